#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_scatter_nd() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("rows")
                     .in(f32, {6, 4})
                     .in(i64, {2, 1}, values({1, 4}))
                     .in(f32, {2, 4})
                     .set("reduction", "none"));
  list.push_back(OpCase("elements")
                     .in(f32, {4, 5})
                     .in(i64, {3, 2}, values({0, 1, 2, 4, 3, 0}))
                     .in(f32, {3})
                     .set("reduction", "none"));
  list.push_back(OpCase("add")
                     .in(f32, {4})
                     .in(i64, {6, 1}, integers(0, 3))
                     .in(f32, {6}, integers(-9, 9))
                     .set("reduction", "add"));
  list.push_back(OpCase("bool")
                     .in(boolean, {6, 4}, integers(0, 1))
                     .in(i64, {2, 1}, values({1, 4}))
                     .in(boolean, {2, 4}, integers(0, 1))
                     .set("reduction", "none"));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {7, 3}, edge_bits())
                       .in(i64, {2, 1}, values({6, -3}))
                       .in(dtype, {2, 3}, edge_bits())
                       .set("reduction", "none"));
  }
  list.push_back(OpCase("index beyond")
                     .in(f32, {6, 4})
                     .in(i64, {2, 1}, values({1, 6}))
                     .in(f32, {2, 4})
                     .set("reduction", "none")
                     .refused("6"));
  return list;
}

}  // namespace concord::ops_test
