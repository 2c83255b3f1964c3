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
  return list;
}

}  // namespace concord::ops_test
