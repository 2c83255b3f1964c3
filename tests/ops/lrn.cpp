#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_lrn() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("plain")
                     .in(f32, {2, 7, 3, 4})
                     .set("size", 3)
                     .set("alpha", 0.1)
                     .set("beta", 0.75)
                     .set("bias", 1.0));
  list.push_back(OpCase("even")
                     .in(f32, {1, 5, 6})
                     .set("size", 4)
                     .set("alpha", 0.0002)
                     .set("beta", 0.5)
                     .set("bias", 2.0));
  return list;
}

}  // namespace concord::ops_test
