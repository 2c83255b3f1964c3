#include "tests/reference/oracle_case.h"

namespace concord::test {
namespace {

graph::Attributes window(std::vector<std::int64_t> strides, std::vector<std::int64_t> pads,
                         std::vector<std::int64_t> dilations, std::int64_t group = 1) {
  return {{"strides", std::move(strides)},
          {"pads", std::move(pads)},
          {"dilations", std::move(dilations)},
          {"group", group},
          {"auto_pad", std::string("notset")}};
}

TEST(Conv, OneAxis) {
  const Tensor x = f32({1, 1, 5}, {1, 2, 3, 4, 5});
  const Tensor w = f32({1, 1, 3}, {1, 0, -1});
  expect_oracle(OpKind::conv, {x, w}, window({1}, {0, 0}, {1}), {1, 1, 3}, {-2, -2, -2});
  expect_oracle(OpKind::conv, {x, w, f32({1}, {10})}, window({2}, {1, 1}, {1}), {1, 1, 3},
                {8, 8, 14});
  expect_oracle(OpKind::conv, {x, w}, window({1}, {0, 0}, {2}), {1, 1, 1}, {-4});
}

TEST(Conv, TwoAxesGroupsAndActivation) {
  const Tensor x = f32({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor w = f32({2, 1, 2, 2}, {1, 1, 1, 1, -1, 0, 0, 0});
  auto attrs = window({1, 1}, {0, 0, 0, 0}, {1, 1}, 2);
  expect_oracle(OpKind::conv, {x, w}, attrs, {1, 2, 1, 1}, {10, -5});
  attrs.set("activation", std::string("relu"));
  expect_oracle(OpKind::conv, {x, w}, attrs, {1, 2, 1, 1}, {10, 0});
}

TEST(Conv, ThreeAxesAndMoreThanOneChunk) {
  Tensor x(DataType::f32, {1, 1, 1, 20, 20});
  for (float& v : x.as_mutable<float>()) v = 1;
  const auto y = oracle_run(OpKind::conv, {x, f32({1, 1, 1, 1, 2}, {1, 2})},
                            window({1, 1, 1}, {0, 0, 0, 0, 0, 1}, {1, 1, 1}));
  ASSERT_EQ(y[0].value.shape(), (Shape{1, 1, 1, 20, 20}));
  for (std::int64_t i = 0; i < 400; ++i) {
    ASSERT_EQ(y[0].value.at_double(i), i % 20 == 19 ? 1 : 3) << i;
  }
}

TEST(ConvTranspose, SpreadsInputs) {
  const Tensor x = f32({1, 1, 2}, {1, 10});
  const Tensor w = f32({1, 1, 3}, {1, 2, 3});
  auto attrs = window({2}, {0, 0}, {1});
  attrs.set("output_padding", ints({0}));
  expect_oracle(OpKind::conv_transpose, {x, w}, attrs, {1, 1, 5}, {1, 2, 13, 20, 30});
  attrs = window({2}, {1, 1}, {1});
  attrs.set("output_padding", ints({1}));
  expect_oracle(OpKind::conv_transpose, {x, w, f32({1}, {100})}, attrs, {1, 1, 4},
                {102, 113, 120, 130});
}

TEST(ConvTranspose, Groups) {
  auto attrs = window({1}, {0, 0}, {1}, 2);
  attrs.set("output_padding", ints({0}));
  expect_oracle(OpKind::conv_transpose, {f32({1, 2, 1}, {1, 10}), f32({2, 2, 1}, {1, 2, 3, 4})},
                attrs, {1, 4, 1}, {1, 2, 30, 40});
}

graph::Attributes pooling(const char* fn, std::vector<std::int64_t> kernel,
                          std::vector<std::int64_t> strides, std::vector<std::int64_t> pads,
                          std::int64_t include_pad = 0, std::int64_t ceil_mode = 0) {
  graph::Attributes attrs =
      window(std::move(strides), std::move(pads), std::vector<std::int64_t>(kernel.size(), 1));
  attrs.set("fn", std::string(fn));
  attrs.set("kernel", std::move(kernel));
  attrs.set("ceil_mode", ceil_mode);
  attrs.set("count_include_pad", include_pad);
  attrs.set("p", std::int64_t{2});
  attrs.set("storage_order", std::int64_t{0});
  return attrs;
}

TEST(Pool, EveryFunction) {
  const Tensor x = f32({1, 1, 4}, {3, -1, 4, 4});
  expect_oracle(OpKind::pool, {x}, pooling("max", {2}, {2}, {0, 0}), {1, 1, 2}, {3, 4});
  expect_oracle(OpKind::pool, {x}, pooling("average", {2}, {2}, {1, 1}), {1, 1, 3}, {3, 1.5, 4});
  expect_oracle(OpKind::pool, {x}, pooling("average", {2}, {2}, {1, 1}, 1), {1, 1, 3},
                {1.5, 1.5, 2});
  expect_oracle(OpKind::pool, {x}, pooling("lp", {2}, {2}, {0, 0}), {1, 1, 2},
                {std::sqrt(10.0), std::sqrt(32.0)});
  // The last window reaches past the end: only what lies inside counts.
  expect_oracle(OpKind::pool, {f32({1, 1, 3}, {1, 2, 6})},
                pooling("average", {2}, {2}, {0, 0}, 1, 1), {1, 1, 2}, {1.5, 6});
}

TEST(Pool, IndicesAndIntegers) {
  const Tensor x = f32({1, 2, 2, 2}, {1, 5, 2, 0, 7, 1, 9, 9});
  const auto y = oracle_run(OpKind::pool, {x}, pooling("max", {2, 2}, {1, 1}, {0, 0, 0, 0}),
                            {DataType::f32, DataType::i64});
  expect_values(y[0], {1, 2, 1, 1}, {5, 9});
  EXPECT_EQ(shown(y[1].value), "int64[1, 2, 1, 1]{1, 6}");
  const auto bytes = oracle_run(OpKind::pool, {tensor<std::uint8_t>({1, 1, 2}, {200, 3})},
                                pooling("max", {2}, {1}, {0, 0}), {DataType::u8});
  EXPECT_EQ(shown(bytes[0].value), "uint8[1, 1, 1]{200}");
}

graph::Attributes resizing(const char* mode, const char* coordinates, std::vector<double> scales) {
  return {{"mode", std::string(mode)},
          {"coordinates", std::string(coordinates)},
          {"nearest", std::string("round_prefer_floor")},
          {"cubic_a", -0.75},
          {"exclude_outside", 0L},
          {"extrapolation", 0.0},
          {"antialias", 0L},
          {"keep_aspect", std::string("stretch")},
          {"axes", ints({0})},
          {"scales", std::move(scales)}};
}

TEST(Resize, Modes) {
  const Tensor x = f32({2}, {1, 3});
  expect_oracle(OpKind::resize, {x}, resizing("nearest", "asymmetric", {2}), {4}, {1, 1, 3, 3});
  expect_oracle(OpKind::resize, {x}, resizing("linear", "half_pixel", {2}), {4}, {1, 1.5, 2.5, 3});
  expect_oracle(OpKind::resize, {x}, resizing("linear", "align_corners", {2}), {4},
                {1, 1 + 2.0 / 3, 1 + 4.0 / 3, 3});
  expect_oracle(OpKind::resize, {x}, resizing("linear", "asymmetric", {2}), {4}, {1, 2, 3, 3});
  // Cubic with a = −0.75 at distance ½: weights −0.09375, 0.59375, 0.59375, −0.09375.
  expect_oracle(OpKind::resize, {f32({4}, {1, 2, 3, 10})}, resizing("cubic", "asymmetric", {2}),
                {8},
                {1, 0.59375 * 3 - 0.09375 * 4, 2, 0.59375 * 5 - 0.09375 * 11, 3,
                 0.59375 * 13 - 0.09375 * 12, 10, 0.59375 * 20 - 0.09375 * 13});
}

TEST(Resize, AntialiasAveragesWhenShrinking) {
  auto attrs = resizing("linear", "half_pixel", {0.5});
  attrs.set("antialias", std::int64_t{1});
  // Weights 1, 3, 3, 1 over 8 around each middle; outside counts as the edge.
  expect_oracle(OpKind::resize, {f32({4}, {8, 16, 32, 64})}, attrs, {2},
                {(8 + 3 * 8 + 3 * 16 + 32) / 8.0, (16 + 3 * 32 + 3 * 64 + 64) / 8.0});
}

}  // namespace
}  // namespace concord::test
