// Softmax, norms and reductions against double loops.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/lowering_fixture.h"

namespace concord::gpu {
namespace {

using Ints = std::vector<std::int64_t>;

void expect_near(const Tensor& got, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(static_cast<std::size_t>(got.count()), expected.size());
  for (std::int64_t i = 0; i < got.count(); ++i) {
    const double want = expected[static_cast<std::size_t>(i)];
    ASSERT_LE(std::abs(got.at_double(i) - want), tolerance * (1 + std::abs(want)))
        << "element " << i;
  }
}

// Softmax of x seen as [outer, columns, inner].
std::vector<double> softmax(const Tensor& x, std::int64_t columns, std::int64_t inner, double scale,
                            bool log) {
  std::vector<double> y(static_cast<std::size_t>(x.count()));
  for (std::int64_t row = 0; row < x.count() / columns; ++row) {
    const std::int64_t base = row / inner * columns * inner + row % inner;
    double largest = -INFINITY;
    for (std::int64_t j = 0; j < columns; ++j) {
      largest = std::max(largest, scale * x.at_double(base + j * inner));
    }
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      sum += std::exp(scale * x.at_double(base + j * inner) - largest);
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      const double shifted = scale * x.at_double(base + j * inner) - largest;
      y[static_cast<std::size_t>(base + j * inner)] =
          log ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  }
  return y;
}

TEST(LowerRows, softmax) {
  const Tensor x = random_floats({3, 5, 70}, 1);
  const Ints inner{350, 70, 1};
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    for (const bool log : {false, true}) {
      const NodeCase test{
          "softmax", {{"axis", axis}, {"log", std::int64_t{log}}, {"scale", 2.5}}, {x}};
      expect_near(run_node(test).at(0),
                  softmax(x, x.shape()[static_cast<std::size_t>(axis)],
                          inner[static_cast<std::size_t>(axis)], 2.5, log),
                  4e-6);
    }
  }
}

TEST(LowerRows, softmax_of_a_row_that_sees_nothing) {
  const Tensor x = floats({2, 2}, {-INFINITY, -INFINITY, 0, 0});
  const NodeCase zero{
      "softmax",
      {{"axis", std::int64_t{1}}, {"log", std::int64_t{0}}, {"nan_to_zero", std::int64_t{1}}},
      {x}};
  EXPECT_TRUE(identical(run_node(zero).at(0), floats({2, 2}, {0, 0, 0.5F, 0.5F})));
}

struct NormCase {
  std::string op;
  Shape shape;
  std::int64_t axis;
  bool gamma, beta, residual, sum;
};

class LowerNorm : public testing::TestWithParam<NormCase> {};

TEST_P(LowerNorm, agrees_with_double_loops) {
  const NormCase& c = GetParam();
  const bool centred = c.op == "layer_norm";
  const Shape inner(c.shape.begin() + c.axis, c.shape.end());
  const std::int64_t columns = element_count(inner);
  NodeCase test{c.op, {{"axis", c.axis}, {"epsilon", 1e-5}}, {random_floats(c.shape, 1)}};
  const auto add = [&](bool wanted, const Shape& shape, unsigned seed) {
    test.inputs.push_back(wanted ? random_floats(shape, seed) : Tensor());
    return test.inputs.back();
  };
  const Tensor gamma = add(c.gamma, inner, 2);
  const Tensor beta = centred ? add(c.beta, inner, 3) : Tensor();
  const Tensor residual = add(c.residual, c.shape, 4);
  if (c.sum) test.outputs.push_back(DataType::f32);
  const std::vector<Tensor> outputs = run_node(test);
  ASSERT_EQ(outputs.size(), c.sum ? 2U : 1U);
  std::vector<double> y;
  std::vector<double> sums;
  for (std::int64_t row = 0; row < test.inputs[0].count() / columns; ++row) {
    std::vector<double> s;
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t at = row * columns + j;
      s.push_back(test.inputs[0].at_double(at) + (c.residual ? residual.at_double(at) : 0.0));
    }
    double mean = 0;
    for (const double value : s) mean += centred ? value / static_cast<double>(columns) : 0.0;
    double variance = 0;
    for (const double value : s) {
      variance += (value - mean) * (value - mean) / static_cast<double>(columns);
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      const double value = (s[static_cast<std::size_t>(j)] - mean) / std::sqrt(variance + 1e-5);
      y.push_back(value * (c.gamma ? gamma.at_double(j) : 1.0) +
                  (c.beta ? beta.at_double(j) : 0.0));
    }
    sums.insert(sums.end(), s.begin(), s.end());
  }
  expect_near(outputs[0], y, 4e-6);
  if (c.sum) expect_near(outputs[1], sums, 1e-7);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LowerNorm,
    testing::Values(NormCase{"layer_norm", {4, 96}, 1, true, true, false, false},
                    NormCase{"layer_norm", {2, 3, 50}, 2, true, false, true, false},
                    NormCase{"layer_norm", {2, 3, 50}, 1, true, true, true, true},
                    NormCase{"layer_norm", {3, 7}, 1, false, false, false, false},
                    NormCase{"rms_norm", {4, 96}, 1, true, false, false, false},
                    NormCase{"rms_norm", {2, 3, 33}, 2, true, false, true, true},
                    NormCase{"rms_norm", {2, 3}, 1, false, false, true, false}));

TEST(LowerRows, group_norm) {
  const Tensor x = random_floats({2, 6, 3, 4}, 1);
  const Tensor scale = random_floats({6}, 2);
  const Tensor bias = random_floats({6}, 3);
  for (const std::int64_t groups : {0, 1, 2, 6}) {
    const std::int64_t count = groups == 0 ? 6 : groups;
    const std::int64_t columns = 72 / count;
    std::vector<double> y;
    for (std::int64_t row = 0; row < 2 * count; ++row) {
      double mean = 0;
      double variance = 0;
      for (std::int64_t j = 0; j < columns; ++j) {
        mean += x.at_double(row * columns + j) / static_cast<double>(columns);
      }
      for (std::int64_t j = 0; j < columns; ++j) {
        const double distance = x.at_double(row * columns + j) - mean;
        variance += distance * distance / static_cast<double>(columns);
      }
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t channel = (row * columns + j) / 12 % 6;
        y.push_back((x.at_double(row * columns + j) - mean) / std::sqrt(variance + 1e-3) *
                        scale.at_double(channel) +
                    bias.at_double(channel));
      }
    }
    expect_near(
        run_node({"group_norm", {{"groups", groups}, {"epsilon", 1e-3}}, {x, scale, bias}}).at(0),
        y, 4e-6);
  }
}

struct ReduceCase {
  std::string fn;
  double start;
  std::function<double(double, double)> step;
  std::function<double(double, double)> finish;  // (accumulated, length)
};

std::vector<ReduceCase> reduce_cases() {
  const auto keep = [](double a, double) { return a; };
  return {
      {"sum", 0, [](double a, double x) { return a + x; }, keep},
      {"mean", 0, [](double a, double x) { return a + x; },
       [](double a, double n) { return a / n; }},
      {"prod", 1, [](double a, double x) { return a * x; }, keep},
      {"max", -INFINITY, [](double a, double x) { return std::max(a, x); }, keep},
      {"min", INFINITY, [](double a, double x) { return std::min(a, x); }, keep},
      {"l1", 0, [](double a, double x) { return a + std::abs(x); }, keep},
      {"l2", 0, [](double a, double x) { return a + x * x; },
       [](double a, double) { return std::sqrt(a); }},
      {"sum_square", 0, [](double a, double x) { return a + x * x; }, keep},
      {"log_sum_exp", 0, [](double a, double x) { return a + std::exp(x); },
       [](double a, double) { return std::log(a); }},
  };
}

TEST(LowerRows, reduce) {
  const Tensor x = random_floats({3, 4, 5, 6}, 1);
  for (const Ints& axes : {Ints{0}, Ints{1}, Ints{3}, Ints{1, 2}, Ints{2, 3}, Ints{0, 2},
                           Ints{1, 3}, Ints{0, 1, 2, 3}}) {
    for (const ReduceCase& c : reduce_cases()) {
      const Shape strides = contiguous_strides(x.shape());
      Shape kept = x.shape();
      for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
      const Shape kept_strides = contiguous_strides(kept);
      std::vector<double> y(static_cast<std::size_t>(element_count(kept)), c.start);
      for (std::int64_t i = 0; i < x.count(); ++i) {
        std::int64_t at = 0;
        for (std::size_t axis = 0; axis < 4; ++axis) {
          if (kept[axis] != 1) at += i / strides[axis] % x.shape()[axis] * kept_strides[axis];
        }
        double& target = y[static_cast<std::size_t>(at)];
        target = c.step(target, x.at_double(i));
      }
      const double length = static_cast<double>(x.count()) / static_cast<double>(y.size());
      for (double& value : y) value = c.finish(value, length);
      const NodeCase test{
          "reduce", {{"fn", c.fn}, {"axes", axes}, {"keepdims", std::int64_t{1}}}, {x}};
      SCOPED_TRACE(c.fn);
      expect_near(run_node(test).at(0), y, 4e-6);
    }
  }
}

}  // namespace
}  // namespace concord::gpu
