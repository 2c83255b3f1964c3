#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_pool() {
  using enum DataType;
  OpCases list;
  const auto pool = [](const std::string& name, const char* fn, DataType dtype, Shape x,
                       std::vector<std::int64_t> kernel, std::vector<std::int64_t> strides,
                       std::vector<std::int64_t> pads) {
    const std::size_t axes = kernel.size();
    return OpCase(name)
        .in(dtype, std::move(x), is_float(dtype) ? normal() : integers(0, 99))
        .set("fn", fn)
        .ints("kernel", std::move(kernel))
        .ints("strides", std::move(strides))
        .ints("pads", std::move(pads))
        .ints("dilations", std::vector<std::int64_t>(axes, 1))
        .set("ceil_mode", 0)
        .set("count_include_pad", 0)
        .set("auto_pad", "notset")
        .set("p", 2)
        .set("storage_order", 0);
  };
  for (const char* fn : {"max", "average", "lp"}) {
    const std::string name(fn);
    list.push_back(pool(name, fn, f32, {2, 5, 9, 8}, {3, 2}, {2, 2}, {0, 0, 0, 0}));
    list.push_back(pool(name + " padded", fn, f32, {2, 5, 9, 8}, {3, 3}, {2, 2}, {1, 1, 1, 1}));
    list.push_back(pool(name + " one axis", fn, f32, {2, 3, 17}, {4}, {3}, {1, 2}));
    list.push_back(pool(name + " three axes", fn, f32, {1, 3, 4, 5, 6}, {2, 2, 2}, {2, 1, 2},
                        {0, 0, 0, 0, 0, 0}));
    list.push_back(pool(name + " ceil", fn, f32, {1, 3, 7, 7}, {3, 3}, {2, 2}, {0, 0, 0, 0})
                       .set("ceil_mode", 1));
    list.push_back(pool(name + " f16", fn, f16, {1, 3, 6, 6}, {2, 2}, {2, 2}, {0, 0, 0, 0}));
  }
  list.push_back(
      pool("average with padding", "average", f32, {2, 5, 9, 8}, {3, 3}, {2, 2}, {1, 1, 1, 1})
          .set("count_include_pad", 1));
  list.push_back(
      pool("max with indices", "max", f32, {2, 3, 8, 8}, {2, 2}, {2, 2}, {0, 0, 0, 0}).outputs(2));
  list.push_back(
      pool("max with indices, column major", "max", f32, {1, 2, 6, 8}, {2, 2}, {2, 2}, {0, 0, 0, 0})
          .set("storage_order", 1)
          .outputs(2));
  list.push_back(
      pool("max of many taps", "max", f32, {2, 70, 11, 12}, {9, 10}, {2, 1}, {0, 0, 0, 0}));
  list.push_back(
      pool("average of many taps", "average", f32, {2, 70, 11, 12}, {9, 10}, {2, 1}, {4, 4, 0, 0}));
  list.push_back(pool("max u8", "max", u8, {1, 3, 6, 6}, {2, 2}, {2, 2}, {0, 0, 0, 0}));
  list.push_back(pool("max dilated", "max", f32, {1, 3, 9, 9}, {2, 2}, {1, 1}, {0, 0, 0, 0})
                     .ints("dilations", {3, 2}));
  list.push_back(
      pool("lp of order 3", "lp", f32, {1, 3, 6, 6}, {2, 2}, {2, 2}, {0, 0, 0, 0}).set("p", 3));
  for (const char* fn : {"max", "average", "lp"}) {
    OpCase edges =
        pool("edges, " + std::string(fn), fn, f32, {1, 2, 6, 7}, {2, 2}, {2, 2}, {0, 0, 0, 0});
    edges.operands.front().fill = specials();
    list.push_back(std::move(edges));
  }
  return list;
}

}  // namespace concord::ops_test
