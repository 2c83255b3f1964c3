#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace concord::gpu {

// The distance of `value` from the exact `reference` in units in the last place of f32; subnormal
// references count in units of the smallest normal, since drivers may flush them to zero. 0 where
// both are NaN or the same infinity, infinite where only one is.
inline double ulp_error(float value, double reference) {
  if (std::isnan(reference)) return std::isnan(value) ? 0.0 : INFINITY;
  const double limit = std::numeric_limits<float>::max();
  if (std::abs(reference) > limit * (1.0 + std::ldexp(1.0, -25))) {
    return std::isinf(value) && std::signbit(value) == std::signbit(reference) ? 0.0 : INFINITY;
  }
  if (!std::isfinite(value)) return INFINITY;
  int exponent = 0;
  std::frexp(reference, &exponent);
  const double smallest = std::numeric_limits<float>::min();
  const double unit = std::abs(reference) < smallest ? smallest : std::ldexp(1.0, exponent - 24);
  return std::abs(double{value} - reference) / unit;
}

// The error to expect of an f32 sum of `terms` products: `sum_of_squares` is the sum of the
// products' squares, `value` the exact result (design.md, section 5, rule 1; lambda = 6).
inline double dot_budget(double value, double sum_of_squares, double terms) {
  const double u = std::ldexp(1.0, -24);
  const double variance =
      u * u * (sum_of_squares * (1 + terms / 2) + value * value * terms / 3) / 3;
  return 6 * std::sqrt(variance) + u * std::abs(value) + std::numeric_limits<float>::min();
}

inline std::vector<float> uniform(std::size_t count, float low, float high, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(engine);
  return values;
}

inline std::vector<float> normal(std::size_t count, unsigned seed = 1, float deviation = 1.0f) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> distribution(0.0f, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(engine);
  return values;
}

inline std::vector<std::int32_t> integers(std::size_t count, std::int32_t low, std::int32_t high,
                                          unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<std::int32_t> distribution(low, high);
  std::vector<std::int32_t> values(count);
  for (std::int32_t& value : values) value = distribution(engine);
  return values;
}

// Values at which elementwise functions go wrong: zeros, infinities, NaN, extremes, ties.
inline std::vector<float> special_values() {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return {0.0f,   -0.0f,      inf,        -inf,        nan,          1.0f,          -1.0f,
          0.5f,   -0.5f,      1.5f,       -1.5f,       2.5f,         -2.5f,         2.0f,
          -2.0f,  3.0f,       -3.0f,      1e-38f,      -1e-38f,      3e38f,         -3e38f,
          88.72f, 88.73f,     -87.3f,     -104.0f,     -103.0f,      1e-7f,         -1e-7f,
          0.625f, 0.95f,      3.95f,      8000.0f,     8388607.5f,   8388608.0f,    16777216.0f,
          1e10f,  -1e10f,     1e20f,      -1e20f,      100.0f,       -100.0f,       10.0f,
          -10.0f, 0.9999999f, 1.0000001f, 0.49999997f, -0.49999997f, 2147483520.0f, -2147483648.0f};
}

}  // namespace concord::gpu
