#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_shape_of() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("all").in(f32, {3, 5, 2}).set("start", 0).set("end", 3));
  list.push_back(OpCase("part").in(f32, {3, 5, 2}).set("start", 1).set("end", 2));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(
        OpCase("every type, " + type).in(dtype, {3, 0, 2}).set("start", 0).set("end", 3));
  }
  list.push_back(OpCase("scalar").in(f32, {}).set("start", 0).set("end", 0));
  return list;
}

}  // namespace concord::ops_test
