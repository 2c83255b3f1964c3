#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_slice() {
  using enum DataType;
  OpCases list;
  const auto slice = [&](const std::string& name, DataType dtype, Shape shape,
                         const std::vector<std::int64_t>& starts,
                         const std::vector<std::int64_t>& ends, std::vector<std::int64_t> axes,
                         std::vector<std::int64_t> steps) {
    list.push_back(OpCase(name)
                       .in(dtype, std::move(shape), is_float(dtype) ? normal() : integers(0, 1))
                       .dims("starts", starts)
                       .dims("ends", ends)
                       .ints("axes", std::move(axes))
                       .ints("steps", std::move(steps)));
  };
  slice("inner", f32, {3, 9}, {2}, {7}, {1}, {1});
  slice("outer", f32, {5, 9}, {1}, {4}, {0}, {1});
  slice("two axes", f32, {5, 9, 4}, {1, 2}, {4, 9}, {0, 1}, {1, 1});
  slice("steps", f32, {5, 9}, {0, 1}, {5, 9}, {0, 1}, {2, 3});
  slice("backwards", f32, {5, 9}, {8}, {-10}, {1}, {-2});
  slice("beyond", f32, {5, 9}, {-100}, {100}, {1}, {1});
  slice("empty", f32, {5, 9}, {4}, {4}, {1}, {1});
  slice("bool", boolean, {5, 9}, {1}, {4}, {0}, {1});
  slice("i64", i64, {9}, {-3}, {9}, {0}, {1});
  return list;
}

}  // namespace concord::ops_test
