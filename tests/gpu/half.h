#pragma once

// f16 on the host: values by definition, rounding by search of the nearest one.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace concord::gpu {

inline float half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const float sign = bits >> 15 != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

// Nearest, ties to even; beyond 65520 infinity.
inline std::uint16_t to_half(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7e00;
  const double magnitude = std::abs(double{value});
  if (magnitude >= 65520.0) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent, -13) - 11);
  const double rounded = std::nearbyint(magnitude / unit) * unit;
  if (rounded < std::ldexp(1.0, -14)) {
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(rounded, 24)));
  }
  std::frexp(rounded, &exponent);
  const int mantissa = static_cast<int>(std::ldexp(rounded, 11 - exponent));  // 1024 to 2047
  return static_cast<std::uint16_t>(sign | ((exponent + 14) << 10) | (mantissa - 1024));
}

inline std::vector<std::uint16_t> to_half(const std::vector<float>& values) {
  std::vector<std::uint16_t> halves;
  for (float value : values) halves.push_back(to_half(value));
  return halves;
}

// The values that f16 can hold.
inline std::vector<float> rounded_to_half(std::vector<float> values) {
  for (float& value : values) value = half_value(to_half(value));
  return values;
}

}  // namespace concord::gpu
