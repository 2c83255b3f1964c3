// Attention against double loops.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/device_fixture.h"
#include "tests/gpu/lowering_fixture.h"

namespace concord::gpu {
namespace {

struct AttentionCase {
  std::string name;
  std::string q_layout = "bhsd", k_layout = "bhsd", v_layout = "bhsd", y_layout = "bhsd";
  std::int64_t heads = 4, key_heads = 4, queries = 5, keys = 7, depth = 8, value_depth = 8;
  std::string causal = "none";
  std::int64_t window = -1;
  double softcap = 0;
  Shape float_mask = {0}, bool_mask = {0};  // {0}: none
  std::vector<std::int64_t> lengths = {};
  std::int64_t nan_to_zero = 0;
  Precision precision = Precision::f32;
};

constexpr std::int64_t kBatch = 2;
const Shape kNone{0};

struct Extents {
  std::int64_t b, h, s, d;
};

Shape arranged(const Extents& e, const std::string& layout) {
  Shape shape;
  for (const char letter : layout) {
    shape.push_back(letter == 'b' ? e.b : letter == 'h' ? e.h : letter == 's' ? e.s : e.d);
  }
  return shape;
}

double at(const Tensor& tensor, const std::string& layout, const Extents& index) {
  const Shape strides = contiguous_strides(tensor.shape());
  const Shape place = arranged(index, layout);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < 4; ++i) offset += place[i] * strides[i];
  return tensor.at_double(offset);
}

double broadcast_at(const Tensor& tensor, const Shape& index) {
  const Shape strides = contiguous_strides(tensor.shape());
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < tensor.shape().size(); ++i) {
    const std::size_t axis = index.size() - tensor.shape().size() + i;
    if (tensor.shape()[i] != 1) offset += index[axis] * strides[i];
  }
  return tensor.at_double(offset);
}

Tensor random_bools(const Shape& shape) {
  Tensor tensor(DataType::boolean, shape);
  auto* values = tensor.mutable_data();
  for (std::int64_t i = 0; i < tensor.count(); ++i) values[i] = std::byte{i % 3 != 1};
  return tensor;
}

// What the roundings of operands and probabilities may make of values below 1.
double tolerance_of(Precision precision) {
  return precision == Precision::f32 ? 2e-6 : precision == Precision::f16 ? 4e-3 : 2e-2;
}

class LowerAttention : public testing::TestWithParam<AttentionCase> {};

TEST_P(LowerAttention, agrees_with_double_loops) {
  const AttentionCase& c = GetParam();
  const double scale = 0.6;
  const DeviceProperties& device = test_device().properties();
  if (c.precision == Precision::f16 && !device.abilities.f16) GTEST_SKIP() << "no 16-bit floats";
  if (c.precision == Precision::bf16 && !device.short_products) GTEST_SKIP() << "no bf16";
  NodeCase test{"attention",
                {{"q_layout", c.q_layout},
                 {"k_layout", c.k_layout},
                 {"v_layout", c.v_layout},
                 {"y_layout", c.y_layout},
                 {"scale", scale},
                 {"causal", c.causal},
                 {"window", c.window},
                 {"softcap", c.softcap},
                 {"nan_to_zero", c.nan_to_zero},
                 {"softmax_precision", DataType::undefined}},
                {}};
  test.precision = c.precision;
  const Tensor q = random_floats(arranged({kBatch, c.heads, c.queries, c.depth}, c.q_layout), 1);
  const Tensor k = random_floats(arranged({kBatch, c.key_heads, c.keys, c.depth}, c.k_layout), 2);
  const Tensor v =
      random_floats(arranged({kBatch, c.key_heads, c.keys, c.value_depth}, c.v_layout), 3);
  Tensor mask;
  if (c.float_mask != kNone) mask = random_floats(c.float_mask, 4);
  if (c.bool_mask != kNone) mask = random_bools(c.bool_mask);
  test.inputs = {q, k, v, mask};
  if (!c.lengths.empty()) test.inputs.push_back(ints({kBatch}, c.lengths));
  const std::vector<Tensor> outputs = run_node(test);
  ASSERT_EQ(outputs.size(), 1U);
  ASSERT_EQ(outputs[0].shape(), arranged({kBatch, c.heads, c.queries, c.value_depth}, c.y_layout));
  for (std::int64_t b = 0; b < kBatch; ++b) {
    for (std::int64_t h = 0; h < c.heads; ++h) {
      const std::int64_t kh = h / (c.heads / c.key_heads);
      for (std::int64_t i = 0; i < c.queries; ++i) {
        std::vector<double> p;
        for (std::int64_t j = 0; j < c.keys; ++j) {
          double score = 0;
          for (std::int64_t d = 0; d < c.depth; ++d) {
            score += at(q, c.q_layout, {b, h, i, d}) * at(k, c.k_layout, {b, kh, j, d});
          }
          score *= scale;
          if (c.softcap != 0) score = c.softcap * std::tanh(score / c.softcap);
          const std::int64_t shift = c.causal == "bottom_right" ? c.keys - c.queries : 0;
          bool sees = c.causal == "none" || j <= i + shift;
          sees = sees && (c.window < 0 || j > i + shift - c.window);
          if (!c.lengths.empty()) sees = sees && j < c.lengths[static_cast<std::size_t>(b)];
          if (c.bool_mask != kNone) sees = sees && broadcast_at(mask, {b, h, i, j}) != 0;
          if (c.float_mask != kNone) score += broadcast_at(mask, {b, h, i, j});
          p.push_back(sees ? score : -INFINITY);
        }
        const double largest = *std::ranges::max_element(p);
        double sum = 0;
        for (double& value : p) sum += value = std::exp(value - largest);
        for (std::int64_t d = 0; d < c.value_depth; ++d) {
          double expected = 0;
          for (std::int64_t j = 0; j < c.keys; ++j) {
            expected += p[static_cast<std::size_t>(j)] / sum * at(v, c.v_layout, {b, kh, j, d});
          }
          const double got = at(outputs[0], c.y_layout, {b, h, i, d});
          if (largest == -INFINITY) {
            ASSERT_TRUE(c.nan_to_zero != 0 ? got == 0.0 : std::isnan(got)) << got;
          } else {
            ASSERT_LE(std::abs(got - expected), tolerance_of(c.precision))
                << b << " " << h << " " << i << " " << d;
          }
        }
      }
    }
  }
}

AttentionCase with(std::string name, void (*change)(AttentionCase&)) {
  AttentionCase c;
  c.name = std::move(name);
  change(c);
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LowerAttention,
    testing::Values(with("plain", [](AttentionCase&) {}),
                    with("bshd",
                         [](AttentionCase& c) {
                           c.q_layout = c.k_layout = c.v_layout = c.y_layout = "bshd";
                         }),
                    with("keys_transposed", [](AttentionCase& c) { c.k_layout = "bhds"; }),
                    with("grouped", [](AttentionCase& c) { c.key_heads = 2; }),
                    with("one_key_head",
                         [](AttentionCase& c) {
                           c.key_heads = 1;
                           c.y_layout = "bshd";
                         }),
                    with("one_query",
                         [](AttentionCase& c) {
                           c.queries = 1;
                           c.causal = "bottom_right";
                         }),
                    with("causal",
                         [](AttentionCase& c) {
                           c.queries = 7;
                           c.causal = "top_left";
                         }),
                    with("causal_with_past", [](AttentionCase& c) { c.causal = "bottom_right"; }),
                    with("window",
                         [](AttentionCase& c) {
                           c.causal = "bottom_right";
                           c.window = 3;
                         }),
                    with("softcap",
                         [](AttentionCase& c) {
                           c.softcap = 2.5;
                           c.causal = "bottom_right";
                         }),
                    with("float_mask",
                         [](AttentionCase& c) {
                           c.float_mask = {kBatch, 1, 5, 7};
                         }),
                    with("head_mask",
                         [](AttentionCase& c) {
                           c.float_mask = {1, 4, 5, 7};
                         }),
                    with("bool_mask",
                         [](AttentionCase& c) {
                           c.bool_mask = {kBatch, 1, 1, 7};
                         }),
                    with("square_mask",
                         [](AttentionCase& c) {
                           c.bool_mask = {5, 7};
                         }),
                    with("lengths",
                         [](AttentionCase& c) {
                           c.lengths = {3, 7};
                         }),
                    with("blind_row",
                         [](AttentionCase& c) {
                           c.lengths = {0, 7};
                         }),
                    with("blind_row_of_zeros",
                         [](AttentionCase& c) {
                           c.lengths = {0, 7};
                           c.nan_to_zero = 1;
                         }),
                    with("longer",
                         [](AttentionCase& c) {
                           c.queries = 40;
                           c.keys = 70;
                           c.depth = 32;
                           c.value_depth = 24;
                         }),
                    with("wide",
                         [](AttentionCase& c) {
                           c.queries = 33;
                           c.keys = 20;
                           c.depth = 100;
                           c.value_depth = 128;
                           c.causal = "top_left";
                         })),
    [](const auto& one) { return one.param.name; });

AttentionCase longer(std::string name, Precision precision, std::int64_t depth) {
  AttentionCase c;
  c.name = std::move(name);
  c.precision = precision;
  c.q_layout = c.y_layout = "bshd";
  c.k_layout = "bhds";
  c.key_heads = 2;
  c.queries = 70;
  c.keys = 75;
  c.depth = c.value_depth = depth;
  c.causal = "bottom_right";
  c.window = 40;
  return c;
}

INSTANTIATE_TEST_SUITE_P(Short, LowerAttention,
                         testing::Values(longer("f16", Precision::f16, 16),
                                         longer("f16_wide", Precision::f16, 80),
                                         longer("bf16", Precision::bf16, 16),
                                         longer("bf16_wide", Precision::bf16, 80)),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace concord::gpu
