#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_nonzero() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("bool").in(boolean, {4, 5}, values({1, 0, 0, 1, 1, 0, 1})));
  return list;
}

}  // namespace concord::ops_test
