#include "tests/reference/simulation.h"

#include <bit>
#include <cmath>

namespace concord::test {

std::string to_string(Data data) {
  switch (data) {
    case Data::normal:
      return "normal";
    case Data::positive:
      return "positive";
    case Data::shifted:
      return "shifted";
    case Data::heavy:
      return "heavy-tailed";
    case Data::waves:
      return "waves";
    default:
      return "equal";
  }
}

float Source::draw(Data data) {
  const float n = normal_(generator_);
  switch (data) {
    case Data::normal:
      return n;
    case Data::positive:
      return std::abs(n) + 0.01f;
    case Data::shifted:
      return n + 3;
    case Data::heavy:
      return n * n * n * n * n;
    default:
      return 0.1f;
  }
}

Tensor Source::tensor(Shape shape, Data data) {
  Tensor t(DataType::f32, std::move(shape));
  if (data == Data::waves && t.count() > 0) {
    const auto values = t.as_mutable<float>();
    const auto width = static_cast<std::size_t>(t.shape().back());
    for (std::size_t row = 0; row < values.size(); row += width) {
      const float cycles = 0.5f + 4 * std::abs(normal_(generator_));
      const float phase = 10 * normal_(generator_);
      for (std::size_t i = 0; i < width; ++i) {
        const float turn = static_cast<float>(i) / static_cast<float>(width);
        values[row + i] = std::sin(6.2831853f * cycles * turn + phase);
      }
    }
    return t;
  }
  for (float& v : t.as_mutable<float>()) v = draw(data);
  return t;
}

float round_digits(float x, int digits) {
  // Ties to even on the bits: a carry goes on into the exponent, as it should.
  const int dropped = 24 - digits;
  auto bits = std::bit_cast<std::uint32_t>(x);
  if (dropped == 0 || !std::isfinite(x)) return x;
  const std::uint32_t lowest = (bits >> dropped) & 1u;
  bits += (1u << (dropped - 1)) - 1u + lowest;
  return std::bit_cast<float>(bits & ~((1u << dropped) - 1u));
}

float dot_sequential(const float* a, const float* b, std::int64_t n) {
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

float dot_fused(const float* a, const float* b, std::int64_t n) {
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum = std::fma(a[i], b[i], sum);
  return sum;
}

float dot_lanes(const float* a, const float* b, std::int64_t n) {
  float lanes[16] = {};
  for (std::int64_t i = 0; i < n; ++i) lanes[i % 16] = std::fma(a[i], b[i], lanes[i % 16]);
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

float dot_blocked(const float* a, const float* b, std::int64_t n) {
  float sum = 0;
  for (std::int64_t i = 0; i < n; i += 64) {
    sum += dot_sequential(a + i, b + i, std::min<std::int64_t>(64, n - i));
  }
  return sum;
}

float dot_pairwise(const float* a, const float* b, std::int64_t n) {
  if (n == 0) return 0;
  if (n == 1) return a[0] * b[0];
  return dot_pairwise(a, b, n / 2) + dot_pairwise(a + n / 2, b + n / 2, n - n / 2);
}

namespace {

float dot_rounded(const float* a, const float* b, std::int64_t n, int operand, int sum_digits) {
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const float term = round_digits(a[i], operand) * round_digits(b[i], operand);
    sum = round_digits(sum + round_digits(term, sum_digits), sum_digits);
  }
  return sum;
}

}  // namespace

float dot_tf32(const float* a, const float* b, std::int64_t n) {
  return dot_rounded(a, b, n, kTf32Digits, 24);
}
float dot_bf16_operands(const float* a, const float* b, std::int64_t n) {
  return dot_rounded(a, b, n, kBf16Digits, 24);
}
float dot_f16_sums(const float* a, const float* b, std::int64_t n) {
  return dot_rounded(a, b, n, 24, kF16Digits);
}
float dot_bf16_sums(const float* a, const float* b, std::int64_t n) {
  return dot_rounded(a, b, n, 24, kBf16Digits);
}

double worst_ratio(const OracleValue& oracle, const std::vector<float>& actual, DataType store) {
  double worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double y = oracle.value.as<double>()[i];
    const double error = std::abs(static_cast<double>(actual[i]) - y);
    const double b = reference::budget(y, oracle.sigma.as<double>()[i], store);
    const double ratio = error / b;
    worst = std::isnan(ratio) ? INFINITY : std::max(worst, ratio);
  }
  return worst;
}

}  // namespace concord::test
