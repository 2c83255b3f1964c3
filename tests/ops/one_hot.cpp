#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_one_hot() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("last")
                     .in(i64, {5}, integers(0, 6))
                     .weight(i64, {}, values({7}))
                     .in(f32, {2}, values({0, 1}))
                     .set("axis", 1));
  list.push_back(OpCase("first, negative")
                     .in(i64, {2, 3}, integers(-4, 3))
                     .weight(i64, {}, values({4}))
                     .in(f32, {2}, values({-1, 2}))
                     .set("axis", 0));
  list.push_back(OpCase("out of range")
                     .in(i64, {6}, integers(-9, 9))
                     .weight(i64, {}, values({4}))
                     .in(i64, {2}, values({3, 7}))
                     .set("axis", 1));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    if (is_sub_byte(dtype)) continue;
    list.push_back(OpCase("every type, " + type)
                       .in(i64, {5}, values({0, 3, -1, 9, -9}))
                       .weight(i64, {}, values({4}))
                       .in(dtype, {2}, edge_bits())
                       .set("axis", 1));
  }
  return list;
}

}  // namespace concord::ops_test
