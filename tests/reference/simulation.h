#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "backends/reference/budget.h"
#include "tests/reference/oracle_case.h"

// Backends of many kinds, imitated in float32, to hold the budget against.
namespace concord::test {

// Waves: rows of few slow oscillations, as filters have, so that sums on the way are far larger
// than what is left of them.
enum class Data { normal, positive, shifted, heavy, waves, equal };
constexpr Data kAllData[] = {Data::normal, Data::positive, Data::shifted,
                             Data::heavy,  Data::waves,    Data::equal};
std::string to_string(Data data);

class Source {
 public:
  explicit Source(unsigned seed) : generator_(seed) {}
  float draw(Data data);
  Tensor tensor(Shape shape, Data data);

 private:
  std::mt19937 generator_;
  std::normal_distribution<float> normal_{0, 1};
};

// To the nearest number with `digits` bits of significand (range is not limited).
float round_digits(float x, int digits);
constexpr int kF16Digits = 11;
constexpr int kTf32Digits = 11;
constexpr int kBf16Digits = 8;

// Ways to sum a·b.
using Dot = float (*)(const float* a, const float* b, std::int64_t n);
float dot_sequential(const float* a, const float* b, std::int64_t n);
float dot_fused(const float* a, const float* b, std::int64_t n);    // one rounding per term
float dot_lanes(const float* a, const float* b, std::int64_t n);    // 16 sums, joined by a tree
float dot_blocked(const float* a, const float* b, std::int64_t n);  // blocks of 64, then their sums
float dot_pairwise(const float* a, const float* b, std::int64_t n);
float dot_tf32(const float* a, const float* b, std::int64_t n);
float dot_bf16_operands(const float* a, const float* b, std::int64_t n);
float dot_f16_sums(const float* a, const float* b, std::int64_t n);
float dot_bf16_sums(const float* a, const float* b, std::int64_t n);

struct NamedDot {
  const char* name;
  Dot dot;
};
inline const NamedDot kHonestDots[] = {{"sequential", dot_sequential},
                                       {"fused", dot_fused},
                                       {"lanes", dot_lanes},
                                       {"blocked", dot_blocked},
                                       {"pairwise", dot_pairwise}};

// The largest |error| / B over all elements; infinite where NaN or infinity disagree.
double worst_ratio(const OracleValue& oracle, const std::vector<float>& actual, DataType store);

inline Numerics with_sigma(StepPrecision precision = {}) {
  Numerics numerics;
  numerics.precision = precision;
  numerics.sigma = true;
  return numerics;
}

}  // namespace concord::test
