// Elementary functions and conversions of float64.

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/cast.h"
#include "backends/gpu/kernels/unary.h"
#include "tests/gpu/kernel_fixture.h"

namespace concord::gpu {
namespace {

std::vector<double> device_result(const std::string& function, const std::vector<double>& x) {
  const Buffer in = upload(x);
  const Buffer out = upload(std::vector<double>(x.size()));
  const auto n = static_cast<std::int32_t>(x.size());
  launch<kernels::UnaryIdentityParams>("unary_" + function + "_f64", flat_groups(n),
                                       {in.ptr, out.ptr, n, 0, 0});
  return download<double>(out, x.size());
}

// The distance in units in the last place of `exact`.
double ulps(double y, long double exact) {
  const auto rounded = static_cast<double>(exact);
  const double unit = std::nextafter(std::abs(rounded), INFINITY) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(y) - exact)) / unit;
}

TEST(Float64, ExpAndLogAreExactToFewUnits) {
  if (!runs_here("unary_exp_f64")) GTEST_SKIP() << "the device has no float64";
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> wide(-700, 700);
  std::uniform_real_distribution<double> near(-1, 1);
  std::vector<double> x{0, 1, -1, 709.7, -708.0};
  for (int i = 0; i < 2000; ++i) x.push_back(wide(engine));
  for (int i = 0; i < 2000; ++i) x.push_back(near(engine));
  const std::vector<double> e = device_result("exp", x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(ulps(e[i], std::exp(static_cast<long double>(x[i]))), 2) << x[i];
  }
  std::vector<double> positive{1, 2, 0.5, 1e-300, 1e300, 5e-324};
  for (const double value : x) positive.push_back(std::exp(value));
  const std::vector<double> l = device_result("log", positive);
  for (std::size_t i = 0; i < positive.size(); ++i) {
    const long double exact = std::log(static_cast<long double>(positive[i]));
    if (exact == 0) {
      ASSERT_EQ(l[i], 0);
    } else {
      ASSERT_LE(ulps(l[i], exact), 3) << positive[i];
    }
  }
  const std::vector<double> special = device_result("exp", {INFINITY, -INFINITY, NAN, 1000, -1000});
  EXPECT_EQ(special[0], INFINITY);
  EXPECT_EQ(special[1], 0);
  EXPECT_TRUE(std::isnan(special[2]));
  EXPECT_EQ(special[3], INFINITY);
  EXPECT_EQ(special[4], 0);
  const std::vector<double> logs = device_result("log", {INFINITY, 0, -1, NAN});
  EXPECT_EQ(logs[0], INFINITY);
  EXPECT_EQ(logs[1], -INFINITY);
  EXPECT_TRUE(std::isnan(logs[2]) && std::isnan(logs[3]));
}

struct Function {
  const char* name;
  long double (*exact)(long double);
  double low;
  double high;
};

TEST(Float64, FunctionsAreExactToFewUnits) {
  if (!runs_here("unary_erf_f64")) GTEST_SKIP() << "the device has no float64";
  const Function functions[] = {
      {"tanh", std::tanh, -25, 25},     {"tanh", std::tanh, -0.5, 0.5},
      {"sinh", std::sinh, -30, 30},     {"sinh", std::sinh, -0.5, 0.5},
      {"cosh", std::cosh, -30, 30},     {"asinh", std::asinh, -9, 9},
      {"asinh", std::asinh, -1e9, 1e9}, {"acosh", std::acosh, 1, 9},
      {"acosh", std::acosh, 1, 1e9},    {"atanh", std::atanh, -1, 1},
      {"atan", std::atan, -9, 9},       {"atan", std::atan, -1e9, 1e9},
      {"asin", std::asin, -1, 1},       {"acos", std::acos, -1, 1},
      {"erf", std::erf, -7, 7},         {"erf", std::erf, -0.5, 0.5},
  };
  std::mt19937_64 engine(2);
  for (const Function& function : functions) {
    std::uniform_real_distribution<double> numbers(function.low, function.high);
    std::vector<double> x;
    for (int i = 0; i < 1000; ++i) x.push_back(numbers(engine));
    const std::vector<double> y = device_result(function.name, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulps(y[i], function.exact(x[i])), 8) << function.name << " of " << x[i];
    }
  }
}

TEST(Float64, RoundsHalfToEven) {
  if (!runs_here("unary_round_f64")) GTEST_SKIP() << "the device has no float64";
  const std::vector<double> x{0.5, 1.5, 2.5, -0.5, -1.5, 1e300, 0.49999999999999994, 4.5e15};
  const std::vector<double> rounded = device_result("round", x);
  const std::vector<double> down = device_result("floor", x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(rounded[i], std::nearbyint(x[i]));
    EXPECT_EQ(down[i], std::floor(x[i]));
  }
}

// Rounded to odd first, a value rounds to fewer bits as if at once.
TEST(Float64, OddRoundingToFloat32KeepsWhatASecondRoundingNeeds) {
  if (!runs_here("cast_f64_f32odd")) GTEST_SKIP() << "the device has no float64";
  std::vector<double> x{1.0,  1.0 + 0x1p-8, 1.0 + 0x1p-8 + 0x1p-40, 1.0 + 0x1p-8 - 0x1p-40,
                        -1.5, 1.0 + 0x1p-30};
  const Buffer in = upload(x);
  const Buffer out = upload(std::vector<float>(x.size()));
  const auto n = static_cast<std::int32_t>(x.size());
  launch<kernels::CastParams>("cast_f64_f32odd", flat_groups(n), {in.ptr, out.ptr, n});
  const auto y = download<float>(out, x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (static_cast<double>(static_cast<float>(x[i])) == x[i]) {
      EXPECT_EQ(y[i], x[i]);
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(y[i]) & 1U, 1U);
      EXPECT_LT(std::abs(y[i] - x[i]), 0x1p-22);
    }
  }
}

}  // namespace
}  // namespace concord::gpu
