#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_cum_prod() {
  using enum DataType;
  OpCases list;
  const auto product = [&](const std::string& name, int axis, int exclusive, int reverse) {
    return OpCase(name).set("axis", axis).set("exclusive", exclusive).set("reverse", reverse);
  };
  list.push_back(product("last", 1, 0, 0).in(f32, {3, 20}));
  list.push_back(product("exclusive", 1, 1, 0).in(f32, {3, 5, 4}));
  list.push_back(product("reverse", 0, 0, 1).in(f32, {3, 5, 4}));
  list.push_back(product("both", 1, 1, 1).in(f64, {3, 5}));
  list.push_back(product("extremes", 1, 0, 0).in(f32, {9, 3}, extremes()));
  list.push_back(product("i64, wrapping", 1, 0, 0).in(i64, {3, 40}, integers(-9, 9)));
  list.push_back(product("i32, wrapping", 0, 0, 0).in(i32, {20}, integers(-9, 9)));
  list.push_back(product("u32", 0, 1, 0).in(u32, {20}, integers(0, 9)));
  list.push_back(product("f16", 1, 0, 0).in(f16, {3, 5}));
  list.push_back(product("bf16", 1, 0, 1).in(bf16, {3, 5}));
  list.push_back(product("empty axis", 1, 0, 0).in(f32, {3, 0}));
  list.push_back(OpCase("axis of the run")
                     .in(f32, {3, 5})
                     .in(i32, {}, values({-1}))
                     .set("exclusive", 0)
                     .set("reverse", 0));
  list.push_back(OpCase("axis beyond")
                     .in(f32, {3, 5})
                     .in(i64, {}, values({2}))
                     .set("exclusive", 0)
                     .set("reverse", 0)
                     .refused("2"));
  return list;
}

}  // namespace concord::ops_test
