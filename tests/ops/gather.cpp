#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_gather() {
  using enum DataType;
  OpCases list;
  list.push_back(
      OpCase("table").weight(f32, {30, 8}).in(i64, {2, 5}, integers(0, 29)).set("axis", 0));
  list.push_back(OpCase("negative").in(f32, {6, 8}).in(i64, {7}, integers(-6, 5)).set("axis", 0));
  list.push_back(
      OpCase("inner axis").in(f32, {2, 6, 3}).in(i32, {4}, integers(0, 5)).set("axis", 1));
  list.push_back(OpCase("scalar index").in(f32, {2, 6, 3}).in(i64, {}, values({2})).set("axis", 2));
  list.push_back(OpCase("i64 data")
                     .in(i64, {9}, integers(-99, 99))
                     .in(i64, {3}, integers(0, 8))
                     .set("axis", 0));
  list.push_back(OpCase("f16").in(f16, {9, 5}).in(i64, {3}, integers(0, 8)).set("axis", 0));
  list.push_back(OpCase("bool")
                     .in(boolean, {9, 5}, integers(0, 1))
                     .in(i64, {3}, integers(0, 8))
                     .set("axis", 0));
  list.push_back(OpCase("no indices").in(f32, {9, 5}).in(i64, {0}).set("axis", 0));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {2, 7, 3}, edge_bits())
                       .in(i64, {4}, values({6, -7, 0, 3}))
                       .set("axis", 1));
  }
  list.push_back(OpCase("scalar of a line").in(f32, {5}).in(i32, {}, values({-1})).set("axis", 0));
  list.push_back(OpCase("index beyond")
                     .in(f32, {5, 2})
                     .in(i64, {2}, values({0, 9}))
                     .set("axis", 0)
                     .refused("9"));
  list.push_back(OpCase("index before, i32")
                     .in(f32, {2, 5})
                     .in(i32, {2}, values({0, -6}))
                     .set("axis", 1)
                     .refused("-6"));
  return list;
}

}  // namespace concord::ops_test
