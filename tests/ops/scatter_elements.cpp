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
  return list;
}

}  // namespace concord::ops_test
