#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_concat() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("last axis").in(f32, {2, 3}).in(f32, {2, 5}).set("axis", 1));
  list.push_back(
      OpCase("first axis, three").in(f32, {2, 3}).in(f32, {1, 3}).in(f32, {4, 3}).set("axis", 0));
  list.push_back(OpCase("middle").in(f32, {2, 3, 5}).in(f32, {2, 1, 5}).set("axis", 1));
  list.push_back(OpCase("one empty").in(f32, {2, 0, 5}).in(f32, {2, 4, 5}).set("axis", 1));
  list.push_back(
      OpCase("i64").in(i64, {1}, integers(0, 9)).in(i64, {3}, integers(0, 9)).set("axis", 0));
  list.push_back(OpCase("f16").in(f16, {2, 3}).in(f16, {2, 2}).set("axis", 1));
  list.push_back(OpCase("bool")
                     .in(boolean, {3}, integers(0, 1))
                     .in(boolean, {2}, integers(0, 1))
                     .set("axis", 0));
  list.push_back(OpCase("one input").in(f32, {2, 3}).set("axis", 1));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {2, 3}, edge_bits())
                       .in(dtype, {2, 5}, edge_bits())
                       .set("axis", 1));
  }
  return list;
}

}  // namespace concord::ops_test
