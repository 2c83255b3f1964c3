#include "backends/reference/noise.h"

#include <cmath>

#include "backends/host/elements.h"
#include "backends/reference/parallel.h"
#include "backends/reference/rounding.h"

namespace concord::reference {
namespace {

// SplitMix64's finaliser (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
// 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

double normal_number(std::uint64_t seed, std::uint64_t index) {
  // Only integer sums and exact scaling, so that no mathematical library has a say.
  const std::uint64_t start = mix(seed) ^ mix(index * 0xD1B54A32D192ED03u + 1);
  std::uint64_t sum = 0;
  for (std::uint64_t word = 0; word < 3; ++word) {
    const std::uint64_t bits = mix(start + word);
    sum += (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
  }
  return (static_cast<double>(sum) + 6.0) / 65536.0 - 6.0;
}

void add_noise(OracleValue& value, DataType store, std::uint64_t seed) {
  if (!value.sigma.defined() || value.value.dtype() != DataType::f64) return;
  const double u = unit_roundoff(store);
  const auto sigma = host::raw<double>(value.sigma);
  const auto from = host::raw<double>(value.value);
  Tensor moved(DataType::f64, value.value.shape());
  const auto to = host::raw_mutable<double>(moved);
  parallel_for(moved.count(), grain_for(20), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      to[i] = from[i];
      if (sigma[i] == 0 || !std::isfinite(from[i])) continue;
      const double rounded = u * from[i];
      const double spread = std::sqrt(sigma[i] * sigma[i] + rounded * rounded / 3);
      to[i] += spread * normal_number(seed, i);
    }
  });
  value.value = std::move(moved);
}

}  // namespace concord::reference
