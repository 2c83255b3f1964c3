#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/unary.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"

namespace concord::gpu {
namespace {

using kernels::UnaryParams;

struct UnaryCase {
  std::string name;
  std::function<double(double)> exact;
  double low;  // range of random inputs
  double high;
  double ulp;  // error bound
  float alpha = 0.0f;
  float beta = 0.0f;
  // Added to the bound: multiples of 2^-24 |x|, for functions that cancel.
  double cancellation = 0.0;
};

double round_half_even(double x) {
  return std::nearbyint(x);
}
double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}
double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
double gelu_tanh(double x) {
  return x * sigmoid(2 * 0.7978845608028654 * (x + 0.044715 * x * x * x));
}
double elu(double x, double alpha) {
  return x < 0 ? alpha * std::expm1(x) : x;
}

std::vector<UnaryCase> cases() {
  return {
      {"identity", [](double x) { return x; }, -9, 9, 0},
      {"abs", [](double x) { return std::abs(x); }, -9, 9, 0},
      {"neg", [](double x) { return -x; }, -9, 9, 0},
      {"sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : x; }, -9, 9, 0},
      {"square", [](double x) { return x * x; }, -9, 9, 0.5},
      {"sqrt", [](double x) { return std::sqrt(x); }, 0, 1e6, 2.5},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0, 1e6, 5},
      {"reciprocal", [](double x) { return 1 / x; }, -9, 9, 2.5},
      {"floor", [](double x) { return std::floor(x); }, -50, 50, 0},
      {"ceil", [](double x) { return std::ceil(x); }, -50, 50, 0},
      {"round", round_half_even, -50, 50, 0},
      {"trunc", [](double x) { return std::trunc(x); }, -50, 50, 0},
      {"exp", [](double x) { return std::exp(x); }, -87, 88.7, 1.0},
      {"exp", [](double x) { return std::exp(x); }, -2, 2, 1.0},
      {"expm1", [](double x) { return std::expm1(x); }, -20, 88, 2.0},
      {"expm1", [](double x) { return std::expm1(x); }, -1, 1, 2.0},
      {"log", [](double x) { return std::log(x); }, 0, 1e6, 1.0},
      {"log", [](double x) { return std::log(x); }, 0.5, 2, 1.0},
      {"log1p", [](double x) { return std::log1p(x); }, -0.99, 3, 2.0},
      {"log1p", [](double x) { return std::log1p(x); }, -1e-3, 1e-3, 2.0},
      {"sin", [](double x) { return std::sin(x); }, -10, 10, 2.5},
      {"sin", [](double x) { return std::sin(x); }, -1e5, 1e5, 2.5},
      {"sin", [](double x) { return std::sin(x); }, -1e30, 1e30, 2.5},
      {"cos", [](double x) { return std::cos(x); }, -10, 10, 2.5},
      {"cos", [](double x) { return std::cos(x); }, -1e5, 1e5, 2.5},
      {"cos", [](double x) { return std::cos(x); }, -1e30, 1e30, 2.5},
      {"tan", [](double x) { return std::tan(x); }, -100, 100, 4.0},
      {"asin", [](double x) { return std::asin(x); }, -1, 1, 3.0},
      {"acos", [](double x) { return std::acos(x); }, -1, 1, 3.0},
      {"atan", [](double x) { return std::atan(x); }, -10, 10, 3.0},
      {"sinh", [](double x) { return std::sinh(x); }, -10, 10, 3.0},
      {"cosh", [](double x) { return std::cosh(x); }, -10, 10, 3.0},
      {"tanh", [](double x) { return std::tanh(x); }, -10, 10, 2.0},
      {"tanh", [](double x) { return std::tanh(x); }, -1, 1, 2.0},
      {"asinh", [](double x) { return std::asinh(x); }, -20, 20, 3.0},
      {"acosh", [](double x) { return std::acosh(x); }, 1, 20, 4.0},
      {"atanh", [](double x) { return std::atanh(x); }, -1, 1, 3.0},
      {"erf", [](double x) { return std::erf(x); }, -5, 5, 2.0},
      {"erf", [](double x) { return std::erf(x); }, -1, 1, 2.0},
      {"sigmoid", sigmoid, -90, 30, 3.0},
      {"relu", [](double x) { return x < 0 ? 0.0 : x; }, -9, 9, 0},
      {"gelu_erf",
       [](double x) {
         return std::isinf(x) && x < 0 ? NAN : x * 0.5 * std::erfc(-x / std::sqrt(2));
       },
       -8, 8, 4.0, 0, 0, 2.0},
      {"gelu_tanh", gelu_tanh, -8, 8, 4.0, 0, 0, 2.0},
      {"swish", [](double x) { return x * sigmoid(1.5f * x); }, -8, 8, 16.0, 1.5f},
      {"silu", [](double x) { return x * sigmoid(x); }, -80, 30, 4.0},
      {"softplus", softplus, -80, 80, 3.0},
      {"softsign", [](double x) { return x / (1 + std::abs(x)); }, -9, 9, 3.5},
      {"hard_sigmoid",
       [](double x) { return std::isnan(x) ? x : std::fmax(0.0, std::fmin(1.0, 0.25 * x + 0.5)); },
       -9, 9, 1.0, 0.25f, 0.5f, 1.0},
      {"hard_swish",
       [](double x) { return std::isnan(x) ? x : x * std::fmax(0.0, std::fmin(1.0, x / 6 + 0.5)); },
       -9, 9, 4.0, 0, 0, 2.0},
      {"leaky_relu", [](double x) { return x < 0 ? 0.01f * x : x; }, -9, 9, 0.5, 0.01f},
      {"thresholded_relu", [](double x) { return x > 1           ? x
                                                 : std::isnan(x) ? x
                                                                 : 0.0; }, -9, 9, 0,
       1.0f},
      {"elu", [](double x) { return elu(x, 1.25); }, -20, 9, 3.0, 1.25f},
      {"selu", [](double x) { return 1.0507f * elu(x, 1.67326f); }, -20, 9, 4.0, 1.67326f, 1.0507f},
      {"celu", [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }, -20, 9, 5.0, 2.0f},
      {"mish", [](double x) { return x * std::tanh(softplus(x)); }, -80, 80, 5.0},
      {"clip", [](double x) { return std::isnan(x) ? x : std::fmin(std::fmax(x, -1.5), 2.5); }, -9,
       9, 0, -1.5f, 2.5f},
      {"affine", [](double x) { return 2.0 * x - 0.5; }, -9, 9, 1.0, 2.0f, -0.5f, 1.0},
      {"shrink", [](double x) { return x < -1.5  ? x + 0.5
                                       : x > 1.5 ? x - 0.5
                                                 : 0.0; }, -9, 9, 0.5,
       1.5f, 0.5f},
  };
}

class UnaryF32 : public testing::TestWithParam<UnaryCase> {};

// Each function on random values of its range (a count that fills no workgroup) and on specials.
TEST_P(UnaryF32, IsWithinItsErrorBound) {
  const UnaryCase& c = GetParam();
  std::vector<float> x = uniform(30'011, static_cast<float>(c.low), static_cast<float>(c.high));
  for (float value : special_values()) x.push_back(value);
  const auto n = static_cast<std::int32_t>(x.size());
  const auto in = upload(x);
  const auto out = upload(std::vector<float>(x.size() + 1, 7.0f));
  launch<UnaryParams>("unary_" + c.name + "_f32", flat_groups(n),
                      {in.ptr, out.ptr, n, c.alpha, c.beta});
  const std::vector<float> y = download<float>(out, x.size() + 1);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double reference = c.exact(double{x[i]});
    // Around the point where the function leaves f32's range, infinity and the maximum both count.
    if (std::abs(reference) > 3.4e38 && std::abs(reference) < 3.41e38) continue;
    double error = ulp_error(y[i], reference);
    if (c.cancellation > 0 && std::isfinite(error) && std::isfinite(x[i])) {
      const double slack = c.cancellation * std::ldexp(std::abs(double{x[i]}), -24);
      if (std::abs(y[i] - reference) <= slack) error = 0;
    }
    worst = std::max(worst, error);
    EXPECT_LE(error, c.ulp) << c.name << "(" << x[i] << ") = " << y[i] << ", exactly " << reference;
    if (HasFailure()) break;
  }
  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_EQ(y.back(), 7.0f) << "wrote past the end";
}

INSTANTIATE_TEST_SUITE_P(All, UnaryF32, testing::ValuesIn(cases()), [](const auto& test) {
  return test.param.name + "_" + std::to_string(test.index);
});

TEST(UnaryF32, EmptyTensorWritesNothing) {
  const auto out = upload(std::vector<float>(4, 7.0f));
  launch<UnaryParams>("unary_exp_f32", {1, 1, 1}, {out.ptr, out.ptr, 0, 0.0f, 0.0f});
  EXPECT_EQ(download<float>(out, 4), std::vector<float>(4, 7.0f));
}

}  // namespace
}  // namespace concord::gpu
