#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_trilu() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("upper").in(f32, {5, 7}).set("upper", 1).set("k", 0));
  list.push_back(OpCase("lower, above").in(f32, {2, 5, 5}).set("upper", 0).set("k", 1));
  list.push_back(OpCase("i64").in(i64, {5, 5}, integers(-9, 9)).set("upper", 1).set("k", -1));
  list.push_back(OpCase("bool").in(boolean, {5, 5}, values({1})).set("upper", 0).set("k", 0));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {2, 7, 3}, edge_bits())
                       .set("upper", 1)
                       .set("k", 0));
  }
  return list;
}

}  // namespace concord::ops_test
