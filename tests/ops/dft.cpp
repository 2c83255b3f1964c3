#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_dft() {
  using enum DataType;
  OpCases list;
  const auto dft = [&](const std::string& name, int axis, int inverse, int onesided) {
    return OpCase(name).set("axis", axis).set("inverse", inverse).set("onesided", onesided);
  };
  // Powers of two, small factors, large prime factors.
  for (const std::int64_t n : {1, 2, 3, 4, 8, 10, 16, 30, 49, 61, 67, 121, 134, 256, 400}) {
    const std::string length = std::to_string(n);
    list.push_back(dft("complex of " + length, 1, 0, 0).in(f32, {3, n, 2}));
    list.push_back(dft("inverse of " + length, 1, 1, 0).in(f32, {2, n, 2}));
    list.push_back(dft("real of " + length, 1, 0, 1).in(f32, {2, n, 1}));
    list.push_back(
        dft("real result of " + length, 1, 1, 1).in(f32, {2, n / 2 + 1, 2}).dims("length", {n}));
  }
  list.push_back(dft("longer than the cache", 0, 0, 0).in(f32, {2500, 2, 2}));
  list.push_back(dft("real, both sides", 1, 0, 0).in(f32, {2, 12, 1}));
  list.push_back(dft("middle axis", 1, 0, 0).in(f32, {2, 6, 5, 2}));
  list.push_back(dft("first axis", 0, 1, 0).in(f32, {6, 3, 2}));
  list.push_back(dft("cut", 1, 0, 0).in(f32, {2, 12, 2}).dims("length", {8}));
  list.push_back(dft("filled up", 1, 0, 1).in(f32, {2, 12, 1}).dims("length", {20}));
  list.push_back(dft("inverse, cut", 1, 1, 1).in(f32, {2, 12, 2}).dims("length", {9}));
  list.push_back(dft("inverse, filled up", 1, 1, 1).in(f32, {2, 4, 2}).dims("length", {12}));
  list.push_back(dft("inverse, length left out", 1, 1, 1).in(f32, {2, 6, 2}));
  list.push_back(dft("f64", 1, 0, 0).in(f64, {3, 36, 2}));
  list.push_back(dft("f64, prime", 1, 0, 0).in(f64, {1, 67, 1}));
  list.push_back(dft("f16", 1, 0, 0).in(f16, {3, 16, 2}));
  list.push_back(dft("bf16", 1, 1, 0).in(bf16, {3, 16, 2}));
  list.push_back(dft("no lines", 1, 0, 0).in(f32, {0, 8, 2}));
  list.push_back(dft("NaN", 1, 0, 0).in(f32, {2, 8, 2}, values({1, 2, 3, 4, 5, 6, kNaN, 8})));
  const auto of_the_run = [](const std::string& name, double length, double axis) {
    return OpCase(name)
        .in(f32, {2, 6, 1})
        .in(i64, {}, values({length}))
        .in(i64, {}, values({axis}))
        .set("inverse", 0)
        .set("onesided", 1);
  };
  list.push_back(of_the_run("length and axis of the run", 8, -2));
  list.push_back(of_the_run("axis beyond", 8, 3).refused("3"));
  list.push_back(of_the_run("axis of the parts", 8, 2).refused("2"));
  list.push_back(of_the_run("no length", 0, 1).refused("0"));
  return list;
}

}  // namespace concord::ops_test
