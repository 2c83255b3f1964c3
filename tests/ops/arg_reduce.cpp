#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_arg_reduce() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("argmax last")
                     .in(f32, {3, 5})
                     .set("fn", "argmax")
                     .set("axis", 1)
                     .set("keepdims", 1)
                     .set("select_last", 0));
  list.push_back(OpCase("argmin inner")
                     .in(f32, {2, 7, 3})
                     .set("fn", "argmin")
                     .set("axis", 1)
                     .set("keepdims", 0)
                     .set("select_last", 0));
  list.push_back(OpCase("ties, first")
                     .in(f32, {2, 8}, integers(0, 2))
                     .set("fn", "argmax")
                     .set("axis", 1)
                     .set("keepdims", 0)
                     .set("select_last", 0));
  list.push_back(OpCase("ties, last")
                     .in(i32, {4, 8}, integers(0, 2))
                     .set("fn", "argmax")
                     .set("axis", 1)
                     .set("keepdims", 0)
                     .set("select_last", 1));
  list.push_back(OpCase("f16")
                     .in(f16, {3, 33})
                     .set("fn", "argmin")
                     .set("axis", 1)
                     .set("keepdims", 1)
                     .set("select_last", 0));
  list.push_back(OpCase("i64 first axis")
                     .in(i64, {5, 4}, integers(-9, 9))
                     .set("fn", "argmax")
                     .set("axis", 0)
                     .set("keepdims", 1)
                     .set("select_last", 0));
  return list;
}

}  // namespace concord::ops_test
