#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_conv_transpose() {
  using enum DataType;
  OpCases list;
  const auto add = [&](const std::string& name, Shape x, Shape w, std::int64_t channels,
                       std::vector<std::int64_t> strides, std::vector<std::int64_t> pads,
                       std::vector<std::int64_t> dilations,
                       std::vector<std::int64_t> output_padding, int group = 1,
                       DataType dtype = f32) {
    list.push_back(OpCase(name)
                       .in(dtype, std::move(x))
                       .weight(dtype, std::move(w))
                       .weight(dtype, {channels})
                       .ints("strides", std::move(strides))
                       .ints("pads", std::move(pads))
                       .ints("dilations", std::move(dilations))
                       .ints("output_padding", std::move(output_padding))
                       .set("group", group)
                       .set("auto_pad", "notset"));
  };
  add("plain", {1, 4, 5, 5}, {4, 6, 3, 3}, 6, {1, 1}, {0, 0, 0, 0}, {1, 1}, {0, 0});
  add("stride 2", {2, 8, 4, 5}, {8, 7, 2, 2}, 7, {2, 2}, {0, 0, 0, 0}, {1, 1}, {0, 0});
  add("pads", {1, 8, 4, 5}, {8, 7, 4, 3}, 7, {2, 2}, {1, 1, 1, 0}, {1, 1}, {1, 0});
  add("dilated", {1, 8, 4, 5}, {8, 7, 3, 3}, 7, {1, 2}, {1, 1, 1, 1}, {2, 2}, {0, 0});
  add("grouped", {1, 8, 4, 5}, {8, 3, 3, 3}, 6, {2, 2}, {1, 1, 1, 1}, {1, 1}, {0, 0}, 2);
  add("one axis", {2, 6, 9}, {6, 5, 4}, 5, {3}, {1, 0}, {1}, {0});
  add("f16", {1, 4, 5, 5}, {4, 6, 3, 3}, 6, {1, 1}, {0, 0, 0, 0}, {1, 1}, {0, 0}, 1, f16);
  return list;
}

}  // namespace concord::ops_test
