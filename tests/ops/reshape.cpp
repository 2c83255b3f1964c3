#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_reshape() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("merge").in(f32, {2, 3, 5}).dims("shape", {6, 5}).set("allow_zero", 0));
  list.push_back(OpCase("split").in(f32, {2, 12}).dims("shape", {2, 3, 4}).set("allow_zero", 0));
  list.push_back(
      OpCase("scalar").in(i64, {1}, integers(0, 9)).dims("shape", {}).set("allow_zero", 0));
  list.push_back(OpCase("empty").in(f32, {0, 3}).dims("shape", {3, 0}).set("allow_zero", 1));
  list.push_back(
      OpCase("bool").in(boolean, {4, 3}, integers(0, 1)).dims("shape", {12}).set("allow_zero", 0));
  return list;
}

}  // namespace concord::ops_test
