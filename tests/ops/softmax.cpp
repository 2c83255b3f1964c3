#include <cmath>

#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_softmax() {
  using enum DataType;
  OpCases list;
  const auto softmax = [](const std::string& name, DataType dtype, Shape shape, int axis, int log,
                          Fill fill = normal(0, 3)) {
    return OpCase(name)
        .in(dtype, std::move(shape), std::move(fill))
        .set("axis", axis)
        .set("log", log)
        .set("nan_to_zero", 0);
  };
  list.push_back(softmax("last", f32, {5, 33}, 1, 0));
  list.push_back(softmax("one element", f32, {5, 1}, 1, 0));
  list.push_back(softmax("long", f32, {2, 3000}, 1, 0));
  list.push_back(softmax("middle", f32, {3, 9, 5}, 1, 0));
  list.push_back(softmax("first", f32, {9, 5}, 0, 0));
  list.push_back(softmax("log", f32, {5, 33}, 1, 1));
  list.push_back(softmax("log middle", f32, {3, 9, 5}, 1, 1));
  list.push_back(softmax("large", f32, {5, 33}, 1, 0, normal(0, 1000)));
  list.push_back(softmax("scaled", f32, {5, 33}, 1, 0).set("scale", 0.125));
  list.push_back(softmax("scaled middle", f32, {3, 9, 5}, 1, 0).set("scale", 0.125));
  list.push_back(softmax("masked rows", f32, {2, 4}, 1, 0,
                         values({-INFINITY, -INFINITY, -INFINITY, -INFINITY, 1, 2, -INFINITY, 0}))
                     .set("nan_to_zero", 1));
  list.push_back(softmax("f16", f16, {5, 33}, 1, 0));
  list.push_back(softmax("bf16", bf16, {5, 33}, 1, 0));
  list.push_back(softmax("empty", f32, {0, 33}, 1, 0));
  list.push_back(softmax("f64", f64, {5, 33}, 1, 0));
  list.push_back(softmax("f64 middle", f64, {3, 9, 5}, 1, 1).set("scale", 0.5));
  list.push_back(softmax("edges", f32, {13, 2}, 1, 0, extremes()));
  list.push_back(softmax("edges, log", f32, {13, 2}, 1, 1, extremes()));
  list.push_back(softmax("edges, first", f32, {2, 13}, 0, 0, extremes()));
  list.push_back(softmax("edges, f64", f64, {13, 2}, 1, 0, extremes()));
  list.push_back(softmax("edges to zero", f32, {13, 2}, 1, 0, extremes()).set("nan_to_zero", 1));
  return list;
}

}  // namespace concord::ops_test
