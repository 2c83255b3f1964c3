#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_scatter_elements() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("none")
                     .in(f32, {3, 9})
                     .in(i64, {3, 3}, values({0, 4, 8}))
                     .in(f32, {3, 3})
                     .set("axis", 1)
                     .set("reduction", "none"));
  list.push_back(OpCase("axis 0, negative")
                     .in(f32, {5, 3})
                     .in(i64, {2, 3}, values({-1, -2, -3, 0, 1, 1}))
                     .in(f32, {2, 3})
                     .set("axis", 0)
                     .set("reduction", "none"));
  list.push_back(OpCase("add")
                     .in(f32, {3, 5})
                     .in(i64, {3, 4}, integers(0, 4))
                     .in(f32, {3, 4}, integers(-9, 9))
                     .set("axis", 1)
                     .set("reduction", "add"));
  list.push_back(OpCase("max i64")
                     .in(i64, {3, 5}, integers(-5, 5))
                     .in(i64, {3, 4}, integers(0, 4))
                     .in(i64, {3, 4}, integers(-9, 9))
                     .set("axis", 1)
                     .set("reduction", "max"));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {3, 7}, edge_bits())
                       .in(i64, {3, 2}, values({6, -7, 0, 3, 1, -1}))
                       .in(dtype, {3, 2}, edge_bits())
                       .set("axis", 1)
                       .set("reduction", "none"));
  }
  list.push_back(OpCase("index beyond")
                     .in(f32, {3, 5})
                     .in(i64, {3, 1}, values({0, -6, 1}))
                     .in(f32, {3, 1})
                     .set("axis", 1)
                     .set("reduction", "none")
                     .refused("-6"));
  return list;
}

}  // namespace concord::ops_test
