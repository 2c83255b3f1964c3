#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_group_norm() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("two groups")
                     .in(f32, {2, 6, 5, 4})
                     .weight(f32, {6})
                     .weight(f32, {6})
                     .set("groups", 2)
                     .set("epsilon", 1e-5));
  list.push_back(OpCase("instance")
                     .in(f32, {2, 6, 35})
                     .weight(f32, {6})
                     .weight(f32, {6})
                     .set("groups", 0)
                     .set("epsilon", 1e-5));
  list.push_back(OpCase("far from zero")
                     .in(f32, {2, 6, 35}, normal(100, 1))
                     .weight(f32, {6})
                     .weight(f32, {6})
                     .set("groups", 3)
                     .set("epsilon", 1e-5));
  list.push_back(OpCase("no scale").in(f32, {2, 6, 5}).set("groups", 1).set("epsilon", 1e-3));
  list.push_back(OpCase("f16")
                     .in(f16, {2, 6, 5})
                     .weight(f16, {6})
                     .weight(f16, {6})
                     .set("groups", 2)
                     .set("epsilon", 1e-5));
  list.push_back(OpCase("edges")
                     .in(f32, {3, 2, 4}, values({1, 2, 3, 4, 1, kInfinity, 2, 3, kNaN, 0, 1, 2}))
                     .set("groups", 2)
                     .set("epsilon", 1e-5));
  list.push_back(OpCase("empty").in(f32, {0, 2, 4}).set("groups", 2).set("epsilon", 1e-5));
  return list;
}

}  // namespace concord::ops_test
