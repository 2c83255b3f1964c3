#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/lowering_fixture.h"

namespace concord::gpu {
namespace {

struct MatmulCase {
  std::string name;
  Shape a, b, y;  // as stored
  bool trans_a = false, trans_b = false;
  Shape bias = {}, residual = {};  // {0}: none
  std::string activation = {};
  double alpha = 1.0;
  bool constant_b = false;
};

const Shape kNone{0};

double value_at(const Tensor& tensor, const Shape& y_shape, std::span<const std::int64_t> at) {
  // Numpy broadcasting of `tensor` to y.
  std::int64_t offset = 0;
  const Shape strides = contiguous_strides(tensor.shape());
  for (std::size_t i = 0; i < tensor.shape().size(); ++i) {
    const std::size_t axis = y_shape.size() - tensor.shape().size() + i;
    if (tensor.shape()[i] != 1) offset += at[axis] * strides[i];
  }
  return tensor.at_double(offset);
}

double matrix_at(const Tensor& tensor, std::span<const std::int64_t> batch, std::int64_t row,
                 std::int64_t column, bool transposed) {
  const Shape& shape = tensor.shape();
  const Shape strides = contiguous_strides(shape);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
    const std::size_t axis = batch.size() - (shape.size() - 2) + i;
    if (shape[i] != 1) offset += batch[axis] * strides[i];
  }
  if (transposed) std::swap(row, column);
  offset += row * shape.back() + column;
  return tensor.at_double(offset);
}

class LowerMatmul : public testing::TestWithParam<MatmulCase> {};

TEST_P(LowerMatmul, agrees_with_double_loops) {
  const MatmulCase& c = GetParam();
  NodeCase test{
      "matmul", {}, {random_floats(c.a, 1), random_floats(c.b, 2)}, {false, c.constant_b}};
  test.attrs.set("trans_a", std::int64_t{c.trans_a});
  test.attrs.set("trans_b", std::int64_t{c.trans_b});
  test.attrs.set("alpha", c.alpha);
  if (!c.activation.empty()) test.attrs.set("activation", c.activation);
  test.inputs.push_back(c.bias == kNone ? Tensor() : random_floats(c.bias, 3));
  test.inputs.push_back(c.residual == kNone ? Tensor() : random_floats(c.residual, 4));
  test.symbolic = true;
  const std::vector<Tensor> outputs = run_node(test);
  ASSERT_EQ(outputs.size(), 1U);
  ASSERT_EQ(outputs[0].shape(), c.y);
  const std::int64_t k = c.trans_a ? c.a[c.a.size() - 2] : c.a.back();
  std::vector<std::int64_t> at(c.y.size(), 0);
  for (std::int64_t i = 0; i < outputs[0].count(); ++i) {
    std::int64_t rest = i;
    for (std::size_t axis = c.y.size(); axis-- > 0;) {
      at[axis] = rest % c.y[axis];
      rest /= c.y[axis];
    }
    const std::span<const std::int64_t> batch = std::span(at).first(at.size() - 2);
    double sum = 0;
    double squares = 0;
    for (std::int64_t p = 0; p < k; ++p) {
      const double term = matrix_at(test.inputs[0], batch, at[at.size() - 2], p, c.trans_a) *
                          matrix_at(test.inputs[1], batch, p, at.back(), c.trans_b);
      sum += term;
      squares += term * term;
    }
    double expected = c.alpha * sum;
    if (test.inputs[2].defined()) expected += value_at(test.inputs[2], c.y, at);
    if (c.activation == "relu") expected = std::max(expected, 0.0);
    if (c.activation == "gelu_erf") {
      expected = expected / 2 * (1 + std::erf(expected / std::sqrt(2.0)));
    }
    if (c.activation == "softsign") expected = expected / (1 + std::abs(expected));
    if (test.inputs[3].defined()) expected += value_at(test.inputs[3], c.y, at);
    const double u = std::ldexp(1.0, -24);
    const double sigma = u * std::sqrt(squares * (1 + static_cast<double>(k) / 2) / 3);
    ASSERT_LE(std::abs(outputs[0].at_double(i) - expected),
              6 * sigma * std::abs(c.alpha) + 8 * u * (1 + std::abs(expected)))
        << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LowerMatmul,
    testing::Values(
        MatmulCase{"plain", {33, 20}, {20, 70}, {33, 70}, false, false, kNone, kNone},
        MatmulCase{"odd", {7, 13}, {13, 11}, {7, 11}, false, false, {11}, kNone},
        MatmulCase{"one_row", {1, 96}, {96, 50}, {1, 50}, false, false, {50}, kNone},
        MatmulCase{"transposed_b", {5, 24}, {40, 24}, {5, 40}, false, true, {40}, kNone, "relu"},
        MatmulCase{"transposed_a", {24, 18}, {24, 10}, {18, 10}, true, false, kNone, kNone},
        MatmulCase{"both", {24, 18}, {10, 24}, {18, 10}, true, true, kNone, kNone, {}, 0.25},
        MatmulCase{"weight",
                   {2, 9, 32},
                   {32, 48},
                   {2, 9, 48},
                   false,
                   false,
                   {48},
                   {2, 9, 48},
                   "gelu_erf",
                   1.0,
                   true},
        MatmulCase{
            "batched", {2, 3, 6, 8}, {2, 3, 8, 10}, {2, 3, 6, 10}, false, false, kNone, kNone},
        MatmulCase{
            "broadcast", {2, 1, 6, 8}, {3, 8, 10}, {2, 3, 6, 10}, false, false, kNone, kNone},
        MatmulCase{"broadcast_a", {6, 8}, {4, 8, 10}, {4, 6, 10}, false, false, kNone, {4, 6, 10}},
        MatmulCase{"row_bias", {6, 8}, {8, 10}, {6, 10}, false, false, {6, 1}, kNone},
        MatmulCase{"scalar_bias", {6, 8}, {8, 10}, {6, 10}, false, false, {1}, kNone, "relu"},
        MatmulCase{"whole_bias", {2, 6, 8}, {8, 10}, {2, 6, 10}, false, false, {2, 6, 10}, kNone},
        MatmulCase{"whole_bias_activated",
                   {2, 6, 8},
                   {8, 10},
                   {2, 6, 10},
                   false,
                   false,
                   {2, 6, 10},
                   {10},
                   "relu"},
        MatmulCase{"broadcast_residual", {6, 8}, {8, 10}, {6, 10}, false, false, {10}, {1, 10}},
        MatmulCase{
            "other_activation", {6, 8}, {8, 10}, {6, 10}, false, false, {10}, {6, 10}, "softsign"},
        MatmulCase{"empty_batch", {0, 6, 8}, {8, 10}, {0, 6, 10}, false, false, kNone, kNone}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace concord::gpu
