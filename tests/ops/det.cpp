#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_det() {
  using enum DataType;
  OpCases list;
  for (const std::int64_t n : {1, 2, 3, 5, 12}) {
    list.push_back(OpCase(std::to_string(n) + " square").in(f32, {4, n, n}));
  }
  list.push_back(OpCase("one matrix").in(f32, {3, 3}));
  list.push_back(OpCase("batches").in(f32, {2, 3, 4, 4}));
  list.push_back(OpCase("rows to be exchanged").in(f32, {2, 2}, values({0, 2, 3, 0})));
  list.push_back(OpCase("singular").in(f32, {3, 3}, values({1, 2, 3, 2, 4, 6, 1, 1, 1})));
  list.push_back(OpCase("zeros").in(f32, {3, 3}, values({0})));
  list.push_back(OpCase("f64").in(f64, {2, 6, 6}));
  list.push_back(OpCase("f16").in(f16, {2, 3, 3}));
  list.push_back(OpCase("bf16").in(bf16, {2, 3, 3}));
  list.push_back(OpCase("of nothing").in(f32, {2, 0, 0}));
  list.push_back(OpCase("none").in(f32, {0, 3, 3}));
  return list;
}

}  // namespace concord::ops_test
