#pragma once

#include <cstdint>

namespace concord::parity {

// SplitMix64 (Steele, Lea, Flood 2014). The same bits on every machine: no library functions whose
// rounding may differ.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // Mean 0, variance 1: the sum of twelve uniforms less six (Irwin–Hall), which needs only exact or
  // correctly rounded operations.
  double normal() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum - 6.0;
  }

 private:
  std::uint64_t state_;
};

}  // namespace concord::parity
