// Reproducible test data.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/number.h"

namespace concord::cpu {

class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed * 2654435761u + 12345u) {}
  // In [low, high), 24 random bits.
  float uniform(float low = -1.0f, float high = 1.0f) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return low + (high - low) * static_cast<float>(state_ >> 40) * 0x1p-24f;
  }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(uniform(0.0f, 1.0f) * static_cast<float>(n)) % n;
  }
  std::vector<float> vector(std::int64_t n, float low = -1.0f, float high = 1.0f) {
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& value : values) value = uniform(low, high);
    return values;
  }

 private:
  std::uint64_t state_;
};

inline std::vector<BFloat16> as_bf16(const std::vector<float>& values) {
  std::vector<BFloat16> result;
  for (const float value : values) result.push_back(to_bfloat16(value));
  return result;
}
inline std::vector<Half> as_f16(const std::vector<float>& values) {
  std::vector<Half> result;
  for (const float value : values) result.push_back(to_half(value));
  return result;
}

}  // namespace concord::cpu
