#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_gather_elements() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("axis 0").in(f32, {5, 4}).in(i64, {3, 4}, integers(0, 4)).set("axis", 0));
  list.push_back(OpCase("axis 1").in(f32, {5, 4}).in(i64, {5, 9}, integers(-4, 3)).set("axis", 1));
  list.push_back(
      OpCase("three axes").in(f32, {2, 5, 4}).in(i32, {2, 3, 4}, integers(0, 4)).set("axis", 1));
  list.push_back(OpCase("i64")
                     .in(i64, {5, 4}, integers(0, 99))
                     .in(i64, {5, 2}, integers(0, 3))
                     .set("axis", 1));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {3, 7}, edge_bits())
                       .in(i64, {3, 2}, values({6, -7, 0, 3, 1, -1}))
                       .set("axis", 1));
  }
  list.push_back(OpCase("index beyond")
                     .in(f32, {3, 5})
                     .in(i64, {3, 1}, values({0, 5, 1}))
                     .set("axis", 1)
                     .refused("5"));
  return list;
}

}  // namespace concord::ops_test
