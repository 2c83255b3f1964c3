#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_dims() {
  OpCases list;
  for (const DataType to : {DataType::i64, DataType::i32, DataType::f32}) {
    list.push_back(OpCase(std::string(to_string(to)))
                       .dims("values", {3, 5, 7, -1})
                       .ints("shape", {2, 2})
                       .set("to", to));
  }
  return list;
}

}  // namespace concord::ops_test
