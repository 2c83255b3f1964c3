#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_slice() {
  using enum DataType;
  OpCases list;
  const auto slice = [&](const std::string& name, DataType dtype, Shape shape,
                         const std::vector<std::int64_t>& starts,
                         const std::vector<std::int64_t>& ends, std::vector<std::int64_t> axes,
                         std::vector<std::int64_t> steps, std::optional<Fill> fill = {}) {
    list.push_back(OpCase(name)
                       .in(dtype, std::move(shape),
                           fill              ? *fill
                           : is_float(dtype) ? normal()
                                             : integers(0, 1))
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
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    slice("every type, " + type, dtype, {3, 7}, {6}, {-100}, {1}, {-2}, edge_bits());
  }
  const auto of_the_run = [](const std::string& name, double step) {
    return OpCase(name)
        .in(f32, {3, 9})
        .in(i64, {1}, values({1}))
        .in(i64, {1}, values({7}))
        .in(i64, {1}, values({1}))
        .in(i64, {1}, values({step}));
  };
  list.push_back(of_the_run("bounds of the run", 2));
  list.push_back(of_the_run("no step", 0).refused("0"));
  return list;
}

}  // namespace concord::ops_test
