#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_range() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("i64")
                     .weight(i64, {}, values({2}))
                     .weight(i64, {}, values({11}))
                     .weight(i64, {}, values({3}))
                     .dims("length", {3}));
  list.push_back(OpCase("f32")
                     .weight(f32, {}, values({1}))
                     .weight(f32, {}, values({4}))
                     .weight(f32, {}, values({0.5}))
                     .dims("length", {6}));
  list.push_back(OpCase("of the run")
                     .in(i64, {}, values({2}))
                     .in(i64, {}, values({11}))
                     .in(i64, {}, values({3})));
  list.push_back(OpCase("no delta")
                     .in(i64, {}, values({2}))
                     .in(i64, {}, values({11}))
                     .in(i64, {}, values({0}))
                     .refused("0"));
  return list;
}

}  // namespace concord::ops_test
