#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_eye_like() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("f32").in(f32, {3, 5}).set("to", f32).set("k", 0));
  list.push_back(OpCase("i64 above").in(f32, {4, 4}).set("to", i64).set("k", 1));
  list.push_back(OpCase("below").in(i32, {4, 2}, integers(0, 1)).set("to", f32).set("k", -1));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    if ((is_float(dtype) || is_integer(dtype)) && !is_sub_byte(dtype)) {
      list.push_back(OpCase("every type, " + type).in(f32, {3, 4}).set("to", dtype).set("k", 0));
    }
  }
  return list;
}

}  // namespace concord::ops_test
