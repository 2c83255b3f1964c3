#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_split() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("last").in(f32, {3, 9}).set("axis", 1).dims("sizes", {2, 3, 4}).outputs(3));
  list.push_back(OpCase("first").in(f32, {6, 4}).set("axis", 0).dims("sizes", {3, 3}).outputs(2));
  list.push_back(OpCase("middle, one empty")
                     .in(f32, {2, 6, 4})
                     .set("axis", 1)
                     .dims("sizes", {6, 0})
                     .outputs(2));
  list.push_back(
      OpCase("i64").in(i64, {5}, integers(0, 9)).set("axis", 0).dims("sizes", {1, 4}).outputs(2));
  return list;
}

}  // namespace concord::ops_test
