// Convolution against double loops.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/lowering_fixture.h"

namespace concord::gpu {
namespace {

using Ints = std::vector<std::int64_t>;

struct ConvCase {
  std::string name;
  Shape x, w;  // [N, C, s…], [M, C/g, k…]
  Ints strides, pads, dilations;
  std::int64_t group = 1;
  bool bias = true;
  std::string activation = {};
};

class LowerConv : public testing::TestWithParam<ConvCase> {};

TEST_P(LowerConv, agrees_with_double_loops) {
  const ConvCase& c = GetParam();
  const Tensor x = random_floats(c.x, 1);
  const Tensor w = random_floats(c.w, 2);
  const Tensor b = c.bias ? random_floats({c.w[0]}, 3) : Tensor();
  NodeCase test{"conv",
                {{"strides", c.strides},
                 {"pads", c.pads},
                 {"dilations", c.dilations},
                 {"group", c.group},
                 {"auto_pad", "notset"}},
                {x, w, b}};
  if (!c.activation.empty()) test.attrs.set("activation", c.activation);
  const std::vector<Tensor> outputs = run_node(test);
  ASSERT_EQ(outputs.size(), 1U);
  // Seen in two dimensions: one-dimensional cases have a height of 1.
  const bool flat = c.x.size() == 3;
  const std::int64_t height = flat ? 1 : c.x[2];
  const std::int64_t width = c.x.back();
  const std::int64_t kh = flat ? 1 : c.w[2];
  const std::int64_t kw = c.w.back();
  const Shape& y = outputs[0].shape();
  const std::int64_t out_height = flat ? 1 : y[2];
  const std::int64_t out_width = y.back();
  const std::int64_t stride_h = flat ? 1 : c.strides[0];
  const std::int64_t pad_h = flat ? 0 : c.pads[0];
  const std::int64_t pad_w = flat ? c.pads[0] : c.pads[1];
  const std::int64_t dilation_h = flat ? 1 : c.dilations[0];
  ASSERT_EQ(
      out_width,
      (width + pad_w + c.pads.back() - (kw - 1) * c.dilations.back() - 1) / c.strides.back() + 1);
  std::int64_t at = 0;
  for (std::int64_t n = 0; n < c.x[0]; ++n) {
    for (std::int64_t m = 0; m < c.w[0]; ++m) {
      for (std::int64_t oh = 0; oh < out_height; ++oh) {
        for (std::int64_t ow = 0; ow < out_width; ++ow, ++at) {
          double expected = c.bias ? b.at_double(m) : 0.0;
          for (std::int64_t ci = 0; ci < c.w[1]; ++ci) {
            const std::int64_t channel = m / (c.w[0] / c.group) * c.w[1] + ci;
            for (std::int64_t i = 0; i < kh; ++i) {
              for (std::int64_t j = 0; j < kw; ++j) {
                const std::int64_t h = oh * stride_h + i * dilation_h - pad_h;
                const std::int64_t v = ow * c.strides.back() + j * c.dilations.back() - pad_w;
                if (h < 0 || h >= height || v < 0 || v >= width) continue;
                expected += x.at_double(((n * c.x[1] + channel) * height + h) * width + v) *
                            w.at_double(((m * c.w[1] + ci) * kh + i) * kw + j);
              }
            }
          }
          if (c.activation == "relu") expected = std::max(expected, 0.0);
          if (c.activation == "hard_swish") {
            expected *= std::clamp(expected / 6 + 0.5, 0.0, 1.0);
          }
          ASSERT_LE(std::abs(outputs[0].at_double(at) - expected), 4e-6) << "element " << at;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LowerConv,
    testing::Values(
        ConvCase{"patches", {2, 3, 12, 8}, {5, 3, 4, 4}, {4, 4}, {0, 0, 0, 0}, {1, 1}},
        ConvCase{"same", {1, 4, 7, 6}, {6, 4, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1, true, "relu"},
        ConvCase{"strided", {1, 4, 9, 8}, {6, 4, 3, 3}, {2, 2}, {1, 0, 0, 1}, {1, 1}, 1, false},
        ConvCase{"dilated", {1, 2, 9, 8}, {3, 2, 3, 2}, {1, 2}, {2, 2, 2, 2}, {2, 3}},
        ConvCase{"pointwise", {2, 8, 5, 5}, {6, 8, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}},
        ConvCase{"strided_pointwise", {2, 8, 5, 5}, {6, 8, 1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}},
        ConvCase{"grouped", {2, 6, 5, 5}, {4, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2},
        ConvCase{"depthwise",
                 {1, 6, 5, 5},
                 {6, 1, 3, 3},
                 {1, 1},
                 {1, 1, 1, 1},
                 {1, 1},
                 6,
                 true,
                 "hard_swish"},
        ConvCase{"one_axis", {2, 5, 20}, {7, 5, 3}, {2}, {1, 1}, {1}},
        ConvCase{"one_axis_grouped", {1, 8, 16}, {8, 2, 4}, {1}, {2, 1}, {1}, 4}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace concord::gpu
