#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_top_k() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("largest")
                     .in(f32, {3, 9})
                     .omit()
                     .dims("k", {4})
                     .set("axis", 1)
                     .set("largest", 1)
                     .set("sorted", 1)
                     .outputs(2));
  list.push_back(OpCase("smallest")
                     .in(f32, {9, 3})
                     .omit()
                     .dims("k", {2})
                     .set("axis", 0)
                     .set("largest", 0)
                     .set("sorted", 1)
                     .outputs(2));
  list.push_back(OpCase("ties")
                     .in(i64, {3, 9}, integers(0, 3))
                     .omit()
                     .dims("k", {5})
                     .set("axis", 1)
                     .set("largest", 1)
                     .set("sorted", 1)
                     .outputs(2));
  return list;
}

}  // namespace concord::ops_test
