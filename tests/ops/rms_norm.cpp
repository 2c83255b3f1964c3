#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_rms_norm() {
  using enum DataType;
  OpCases list;
  list.push_back(
      OpCase("plain").in(f32, {4, 33}).weight(f32, {33}).set("axis", 1).set("epsilon", 1e-5));
  list.push_back(OpCase("two axes")
                     .in(f32, {3, 4, 8})
                     .weight(f32, {4, 8})
                     .set("axis", 1)
                     .set("epsilon", 1e-6));
  list.push_back(OpCase("residual and sum")
                     .in(f32, {2, 5, 48})
                     .weight(f32, {48})
                     .in(f32, {2, 5, 48})
                     .set("axis", 2)
                     .set("epsilon", 1e-5)
                     .outputs(2));
  list.push_back(
      OpCase("f16").in(f16, {4, 33}).weight(f16, {33}).set("axis", 1).set("epsilon", 1e-5));
  list.push_back(OpCase("edges")
                     .in(f32, {3, 4}, values({1, 2, 3, 4, 1, kInfinity, 2, 3, kNaN, 0, 1, 2}))
                     .weight(f32, {4})
                     .set("axis", 1)
                     .set("epsilon", 1e-5));
  list.push_back(OpCase("zeros").in(f32, {2, 16}, values({0})).set("axis", 1).set("epsilon", 1e-5));
  list.push_back(OpCase("empty").in(f32, {0, 16}).set("axis", 1).set("epsilon", 1e-5));
  return list;
}

}  // namespace concord::ops_test
