#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_cum_sum() {
  using enum DataType;
  OpCases list;
  list.push_back(
      OpCase("last").in(f32, {3, 20}).set("axis", 1).set("exclusive", 0).set("reverse", 0));
  list.push_back(
      OpCase("exclusive").in(f32, {3, 5, 4}).set("axis", 1).set("exclusive", 1).set("reverse", 0));
  list.push_back(
      OpCase("reverse").in(f32, {3, 5, 4}).set("axis", 0).set("exclusive", 0).set("reverse", 1));
  list.push_back(
      OpCase("both").in(f64, {3, 5}).set("axis", 1).set("exclusive", 1).set("reverse", 1));
  list.push_back(OpCase("i64")
                     .in(i64, {3, 5}, integers(-9, 9))
                     .set("axis", 1)
                     .set("exclusive", 0)
                     .set("reverse", 0));
  list.push_back(OpCase("i32")
                     .in(i32, {6}, integers(-9, 9))
                     .set("axis", 0)
                     .set("exclusive", 0)
                     .set("reverse", 0));
  list.push_back(
      OpCase("f16").in(f16, {3, 5}).set("axis", 1).set("exclusive", 0).set("reverse", 0));
  list.push_back(OpCase("axis of the run")
                     .in(f32, {3, 5})
                     .in(i32, {}, values({-1}))
                     .set("exclusive", 0)
                     .set("reverse", 0));
  list.push_back(OpCase("edges")
                     .in(f32, {13, 3}, extremes())
                     .set("axis", 1)
                     .set("exclusive", 0)
                     .set("reverse", 0));
  for (const DataType dtype : {i32, u32, i64, u64}) {
    list.push_back(OpCase("edges, " + std::string(to_string(dtype)))
                       .in(dtype, {3, 7}, edge_bits())
                       .set("axis", 1)
                       .set("exclusive", 0)
                       .set("reverse", 1));
  }
  list.push_back(
      OpCase("empty").in(f32, {3, 0}).set("axis", 1).set("exclusive", 0).set("reverse", 0));
  list.push_back(OpCase("axis beyond")
                     .in(f32, {3, 5})
                     .in(i64, {}, values({2}))
                     .set("exclusive", 0)
                     .set("reverse", 0)
                     .refused("2"));
  return list;
}

}  // namespace concord::ops_test
