#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_reverse_sequence() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("time first")
                     .in(f32, {4, 3, 2})
                     .in(i64, {3}, values({4, 1, 3}))
                     .set("batch_axis", 1)
                     .set("time_axis", 0));
  list.push_back(OpCase("batch first")
                     .in(f32, {3, 4})
                     .in(i64, {3}, values({4, 1, 3}))
                     .set("batch_axis", 0)
                     .set("time_axis", 1));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {4, 3, 2}, edge_bits())
                       .in(i64, {3}, values({4, 0, 2}))
                       .set("batch_axis", 1)
                       .set("time_axis", 0));
  }
  list.push_back(OpCase("length beyond")
                     .in(f32, {4, 3})
                     .in(i64, {3}, values({4, 5, 3}))
                     .set("batch_axis", 1)
                     .set("time_axis", 0)
                     .refused("5"));
  return list;
}

}  // namespace concord::ops_test
