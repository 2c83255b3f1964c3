#include <limits>

#include "tests/ops/op_case.h"

namespace concord::ops_test {
namespace {

// Two trees over three features. The first asks x0 ≤ 0.5, then (where it holds) x1 > −1; the second
// x2 = 2, and NaN takes its first branch. Each leaf has a weight for one of two targets, the last
// leaf for both.
OpCase trees(const char* name, DataType dtype, Shape shape, Fill fill, const char* aggregate) {
  return OpCase(name)
      .in(dtype, std::move(shape), std::move(fill))
      .set("targets", 2)
      .set("aggregate", aggregate)
      .set("to", graph::AttrValue(dtype == DataType::f64 ? DataType::f64 : DataType::f32))
      .ints("roots", {0, 5})
      .ints("modes", {0, 3, 6, 6, 6, 4, 6, 6})
      .ints("features", {0, 1, 0, 0, 0, 2, 0, 0})
      .set("values", std::vector<double>{0.5, -1, 0, 0, 0, 2, 0, 0})
      .ints("missing", {0, 0, 0, 0, 0, 1, 0, 0})
      .ints("firsts", {1, 2, 0, 1, 2, 6, 3, 4})
      .ints("seconds", {4, 3, 1, 2, 3, 7, 4, 6})
      .ints("weight_targets", {0, 1, 0, 1, 0, 1})
      .set("weights", std::vector<double>{0.1, -0.2, 1e-3, 7, -1e30, 0.3})
      .set("base", std::vector<double>{0.25, -1});
}

}  // namespace

OpCases cases_tree_ensemble() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Fill special = values({0.5, -1, 2, nan, inf, nan, -inf, -0.0, 1e-40});
  return {
      trees("sum", DataType::f32, {17, 3}, normal(), "sum"),
      trees("average", DataType::f32, {5, 3}, normal(), "average"),
      trees("min", DataType::f32, {5, 3}, normal(), "min"),
      trees("max", DataType::f32, {5, 3}, normal(), "max"),
      trees("float64", DataType::f64, {5, 3}, normal(), "sum"),
      trees("integers", DataType::i64, {6, 3}, integers(-2, 2), "sum"),
      trees("special values", DataType::f32, {3, 3}, special, "sum"),
      trees("no rows", DataType::f32, {0, 3}, normal(), "sum"),
  };
}

}  // namespace concord::ops_test
