#include "tests/ops/op_case.h"

namespace concord::ops_test {
namespace {

struct Window {
  std::vector<std::int64_t> strides, pads, dilations;
  int group = 1;
};

OpCase conv(const std::string& name, Shape x, Shape w, const Window& window, bool bias = true,
            DataType dtype = DataType::f32, bool constant = true) {
  OpCase op_case(name);
  const std::int64_t channels = w[0];
  op_case.in(dtype, std::move(x));
  if (constant) {
    op_case.weight(dtype, std::move(w));
  } else {
    op_case.in(dtype, std::move(w));
  }
  if (bias) op_case.weight(dtype, {channels});
  return op_case.ints("strides", window.strides)
      .ints("pads", window.pads)
      .ints("dilations", window.dilations)
      .set("group", window.group)
      .set("auto_pad", "notset");
}

// Bytes with a zero point and a scale.
OpCase scaled(const std::string& name, Shape x, Shape w, const Window& window,
              bool per_channel = true, DataType type = DataType::u8) {
  const std::int64_t channels = w[0];
  return OpCase("scaled, " + name)
      .in(type, std::move(x), type == DataType::u8 ? integers(0, 255) : integers(-128, 127))
      .weight(DataType::i8, std::move(w), integers(-128, 127))
      .weight(DataType::f32, {channels})
      .weight(type, {}, values({type == DataType::u8 ? 131.0 : -7.0}))
      .weight(DataType::f32, per_channel ? Shape{channels} : Shape{}, uniform(1e-4, 1e-3))
      .ints("strides", window.strides)
      .ints("pads", window.pads)
      .ints("dilations", window.dilations)
      .set("group", window.group)
      .set("auto_pad", "notset");
}

}  // namespace

OpCases cases_conv() {
  OpCases list;
  const Window plain{{1, 1}, {0, 0, 0, 0}, {1, 1}};
  const Window padded{{1, 1}, {1, 1, 1, 1}, {1, 1}};
  list.push_back(conv("one by one", {2, 16, 5, 7}, {24, 16, 1, 1}, plain));
  list.push_back(conv("three by three", {2, 16, 9, 7}, {24, 16, 3, 3}, padded));
  const Window behind{{1, 1}, {0, 0, 1, 2}, {1, 1}};
  list.push_back(conv("one by one, padded behind", {2, 16, 5, 7}, {24, 16, 1, 1}, behind));
  list.push_back(conv("one by one, deep, padded behind", {2, 40, 5, 7}, {24, 40, 1, 1}, behind));
  list.push_back(scaled("one by one, padded behind", {2, 16, 5, 7}, {24, 16, 1, 1}, behind));
  list.push_back(conv("no bias", {1, 8, 6, 6}, {9, 8, 3, 3}, padded, false));
  list.push_back(conv("odd channels", {1, 13, 6, 5}, {7, 13, 3, 3}, padded));
  list.push_back(conv("image", {2, 3, 17, 19}, {8, 3, 7, 7}, {{2, 2}, {3, 3, 3, 3}, {1, 1}}));
  list.push_back(conv("narrow, long lines", {1, 16, 5, 90}, {20, 16, 3, 3}, padded));
  list.push_back(conv("narrow, three vectors", {2, 12, 4, 70}, {40, 12, 3, 3},
                      {{1, 1}, {1, 0, 1, 2}, {1, 1}}));
  list.push_back(
      conv("narrow, strided", {1, 16, 6, 140}, {9, 16, 3, 5}, {{2, 2}, {1, 2, 1, 2}, {1, 1}}));
  list.push_back(conv("patches", {2, 3, 16, 24}, {32, 3, 8, 8}, {{8, 8}, {0, 0, 0, 0}, {1, 1}}));
  list.push_back(
      conv("strides and dilations", {1, 8, 12, 13}, {5, 8, 3, 2}, {{2, 3}, {2, 1, 0, 1}, {2, 2}}));
  list.push_back(conv("uneven pads", {1, 8, 5, 5}, {4, 8, 3, 3}, {{1, 1}, {0, 2, 1, 0}, {1, 1}}));
  list.push_back(conv("pads beyond", {1, 8, 2, 2}, {4, 8, 3, 3}, {{1, 1}, {3, 3, 3, 3}, {1, 1}}));
  list.push_back(conv("grouped", {2, 12, 6, 6}, {8, 3, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 4}));
  list.push_back(
      conv("depthwise", {2, 37, 9, 9}, {37, 1, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 37}));
  list.push_back(
      conv("depthwise, wide", {1, 80, 11, 14}, {80, 1, 5, 5}, {{2, 2}, {2, 2, 2, 2}, {1, 1}, 80}));
  list.push_back(
      conv("depthwise, multiplied", {1, 4, 6, 6}, {8, 1, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 4}));
  list.push_back(conv("deep", {2, 40, 9, 7}, {70, 40, 3, 3}, padded));
  list.push_back(conv("deep, strides and dilations", {2, 33, 12, 23}, {20, 33, 3, 2},
                      {{2, 3}, {2, 1, 0, 1}, {2, 2}}));
  list.push_back(
      conv("deep, pads beyond", {1, 32, 2, 2}, {17, 32, 3, 3}, {{1, 1}, {3, 3, 3, 3}, {1, 1}}));
  list.push_back(conv("deep, one by one, strided", {2, 32, 9, 11}, {24, 32, 1, 1},
                      {{2, 2}, {0, 0, 0, 0}, {1, 1}}));
  list.push_back(conv("deep, three axes", {2, 32, 4, 5, 6}, {5, 32, 3, 2, 3},
                      {{1, 1, 1}, {1, 0, 1, 1, 1, 1}, {1, 1, 1}}));
  list.push_back(conv("deep, gelu", {1, 32, 6, 6}, {9, 32, 3, 3}, padded)
                     .set("activation", "gelu_erf")
                     .set("alpha", 0.0)
                     .set("beta", 0.0));
  list.push_back(
      scaled("image to the edge", {2, 3, 9, 9}, {8, 3, 5, 5}, {{2, 2}, {0, 0, 0, 0}, {1, 1}}));
  list.push_back(scaled("one by one", {2, 16, 5, 7}, {24, 16, 1, 1}, plain));
  list.push_back(scaled("three by three", {2, 16, 9, 7}, {70, 16, 3, 3}, padded));
  list.push_back(scaled("odd channels", {1, 13, 6, 5}, {7, 13, 3, 3}, padded, false));
  list.push_back(scaled("signed", {1, 13, 6, 5}, {7, 13, 3, 3}, padded, true, DataType::i8));
  list.push_back(scaled("image", {2, 3, 17, 19}, {8, 3, 7, 7}, {{2, 2}, {3, 3, 3, 3}, {1, 1}}));
  list.push_back(
      scaled("strides, dilations", {1, 9, 12, 13}, {5, 9, 3, 2}, {{2, 3}, {2, 1, 0, 1}, {2, 2}}));
  for (const DataType type : {DataType::u8, DataType::i8}) {
    const std::string name = "deep " + std::string(to_string(type));
    list.push_back(scaled(name, {2, 36, 9, 7}, {70, 36, 3, 3}, padded, true, type));
    list.push_back(scaled(name + ", strides, dilations", {2, 32, 12, 23}, {20, 32, 3, 2},
                          {{2, 3}, {2, 1, 0, 1}, {2, 2}}, true, type));
    list.push_back(scaled(name + ", pads beyond", {1, 32, 2, 2}, {17, 32, 3, 3},
                          {{1, 1}, {3, 3, 3, 3}, {1, 1}}, true, type));
  }
  for (const std::int64_t channels : {3, 40}) {
    list.push_back(scaled("nothing but padding, " + std::to_string(channels), {1, channels, 0, 6},
                          {5, channels, 3, 3}, {{1, 1}, {2, 2, 2, 2}, {1, 1}}, true, DataType::i8));
  }
  list.push_back(scaled("one axis", {2, 12, 31}, {10, 12, 5}, {{2}, {2, 1}, {1}}));
  for (const char* fn : {"relu", "elu"}) {
    list.push_back(scaled(std::string("activation ") + fn, {2, 16, 9, 7}, {24, 16, 3, 3}, padded)
                       .set("activation", fn)
                       .set("alpha", 0.5)
                       .set("beta", 0.0));
  }
  list.push_back(conv("one axis", {2, 12, 31}, {10, 12, 5}, {{2}, {2, 1}, {1}}));
  list.push_back(conv("one channel, one axis", {1, 1, 300}, {20, 1, 64}, {{32}, {0, 0}, {1}}));
  list.push_back(conv("three axes", {1, 8, 4, 5, 6}, {4, 8, 3, 2, 3},
                      {{1, 1, 2}, {1, 0, 1, 1, 1, 1}, {1, 1, 1}}));
  list.push_back(
      conv("weights of the run", {1, 8, 6, 6}, {9, 8, 3, 3}, padded, true, DataType::f32, false));
  list.push_back(conv("f16", {1, 8, 6, 6}, {9, 8, 3, 3}, padded, true, DataType::f16));
  list.push_back(conv("bf16", {1, 8, 6, 6}, {9, 8, 3, 3}, padded, true, DataType::bf16));
  list.push_back(conv("f64", {2, 6, 6, 5}, {4, 3, 3, 2}, {{2, 1}, {1, 0, 1, 1}, {1, 2}, 2}, true,
                      DataType::f64, false));
  list.push_back(conv("empty batch", {0, 8, 6, 6}, {9, 8, 3, 3}, padded));
  list.push_back(conv("relu", {1, 8, 6, 6}, {9, 8, 3, 3}, padded).set("activation", "relu"));
  list.push_back(
      conv("depthwise relu", {1, 20, 6, 6}, {20, 1, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 20})
          .set("activation", "relu"));
  list.push_back(conv("hard swish", {1, 8, 6, 6}, {9, 8, 3, 3}, padded)
                     .set("activation", "hard_swish")
                     .set("alpha", 0.0)
                     .set("beta", 0.0));
  return list;
}

}  // namespace concord::ops_test
