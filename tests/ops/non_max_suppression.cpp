#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_non_max_suppression() {
  using enum DataType;
  OpCases list;
  const auto boxes = [](const std::string& name, std::int64_t batch, std::int64_t n,
                        std::int64_t classes, int center) {
    return OpCase(name)
        .in(f32, {batch, n, 4}, uniform(0.2, 3))
        .in(f32, {batch, classes, n}, uniform(0, 1))
        .set("center", center);
  };
  const auto limits = [](OpCase c, std::int64_t most, double overlap) {
    return c.in(i64, {1}, values({static_cast<double>(most)})).in(f32, {1}, values({overlap}));
  };
  list.push_back(limits(boxes("corners", 2, 30, 3, 0), 20, 0.3));
  list.push_back(limits(boxes("centres", 2, 30, 3, 1), 20, 0.3));
  list.push_back(limits(boxes("few of many", 1, 60, 2, 1), 3, 0.5));
  list.push_back(limits(boxes("score threshold", 1, 40, 2, 1), 40, 0.5).in(f32, {}, values({0.6})));
  list.push_back(limits(boxes("none wanted", 1, 10, 2, 0), 0, 0.5));
  list.push_back(limits(boxes("no boxes", 1, 0, 2, 0), 5, 0.5));
  list.push_back(limits(boxes("no classes", 1, 4, 0, 0), 5, 0.5));
  list.push_back(boxes("no limit given", 1, 10, 2, 0));
  list.push_back(OpCase("equal boxes and scores")
                     .in(f32, {1, 6, 4}, values({0, 0, 1, 1}))
                     .in(f32, {1, 1, 6}, values({0.5}))
                     .in(i64, {}, values({9}))
                     .in(f32, {}, values({0.5}))
                     .set("center", 0));
  list.push_back(OpCase("NaN and infinite scores")
                     .in(f32, {1, 6, 4}, values({0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}))
                     .in(f32, {1, 1, 6}, values({kNaN, 0.5, kInfinity, -kInfinity, 0.5, kNaN}))
                     .in(i64, {1}, values({9}))
                     .in(f32, {1}, values({0.5}))
                     .set("center", 0));
  list.push_back(OpCase("boxes without area")
                     .in(f32, {1, 4, 4}, values({1, 1, 1, 1}))
                     .in(f32, {1, 1, 4}, values({0.1, 0.2}))
                     .in(i64, {1}, values({4}))
                     .in(f32, {1}, values({0.5}))
                     .set("center", 0));
  return list;
}

}  // namespace concord::ops_test
