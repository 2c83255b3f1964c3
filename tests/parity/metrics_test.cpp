#include "parity/metrics.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace concord::parity {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor floats(const std::vector<float>& values, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  return Tensor::of<float>(shape, std::span<const float>(values));
}

Tensor doubles(const std::vector<double>& values, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  return Tensor::of<double>(shape, std::span<const double>(values));
}

TEST(Metrics, EqualTensors) {
  const Metrics m = compare(floats({1, -2, 0}), doubles({1, -2, 0}));
  EXPECT_EQ(m.max_abs, 0);
  EXPECT_EQ(m.max_ulp, 0);
  EXPECT_EQ(m.nmse, 0);
  EXPECT_EQ(m.snr_db, std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(m.cosine, 1);
  EXPECT_EQ(m.mismatched, 0);
}

// By hand: errors 0.5 and 0 against 1 and 2; reference energy 5.
TEST(Metrics, WorkedOutByHand) {
  const Metrics m = compare(floats({1.5f, 2}), doubles({1, 2}));
  EXPECT_DOUBLE_EQ(m.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(m.max_rel, 0.5);
  EXPECT_DOUBLE_EQ(m.max_ulp, 0.5 / std::ldexp(1.0, -23));
  EXPECT_DOUBLE_EQ(m.nmse, 0.25 / 5);
  EXPECT_DOUBLE_EQ(m.snr_db, -10 * std::log10(0.05));
  EXPECT_DOUBLE_EQ(m.cosine, 5.5 / std::sqrt(6.25 * 5));
  EXPECT_DOUBLE_EQ(m.rms_error, std::sqrt(0.125));
  EXPECT_EQ(m.worst.index, 0);
  EXPECT_EQ(m.worst.value, 1.5);
  EXPECT_EQ(m.worst.reference, 1);
}

TEST(Metrics, UlpsAreThoseOfTheType) {
  EXPECT_EQ(ulp_of(DataType::f32, 1.0), std::ldexp(1.0, -23));
  EXPECT_EQ(ulp_of(DataType::f32, 1.9), std::ldexp(1.0, -23));
  EXPECT_EQ(ulp_of(DataType::f32, 2.0), std::ldexp(1.0, -22));
  EXPECT_EQ(ulp_of(DataType::f32, 0.0), std::ldexp(1.0, -149));
  EXPECT_EQ(ulp_of(DataType::f32, 1e-44), std::ldexp(1.0, -149));
  EXPECT_EQ(ulp_of(DataType::f16, 1.0), std::ldexp(1.0, -10));
  EXPECT_EQ(ulp_of(DataType::bf16, 1.0), std::ldexp(1.0, -7));
  EXPECT_EQ(ulp_of(DataType::f64, 1.0), std::ldexp(1.0, -52));
}

TEST(Metrics, InfinitiesAgreeOnlyWithTheirSign) {
  EXPECT_EQ(compare(floats({kInf, -kInf, kNan}), doubles({kInf, -kInf, kNan})).mismatched, 0);
  const Metrics m = compare(floats({kInf, 1, kNan, 3}), doubles({-kInf, kNan, 2, 3}));
  EXPECT_EQ(m.mismatched, 3);
  EXPECT_EQ(m.worst.index, 0);
  EXPECT_EQ(m.actual.nan, 1);
  EXPECT_EQ(m.actual.positive, 1);
  EXPECT_EQ(m.reference.negative, 1);
  EXPECT_EQ(m.reference.nan, 1);
}

TEST(Metrics, MismatchComesBeforeAnyFiniteError) {
  const Metrics m = compare(floats({100, kNan}), doubles({0, 1}));
  EXPECT_EQ(m.worst.index, 1);
}

TEST(Metrics, ComplexNumbersDifferWhereAPartDoes) {
  for (const DataType dtype : {DataType::c64, DataType::c128}) {
    Tensor a = Tensor::zeros(dtype, {4});
    Tensor b = Tensor::zeros(dtype, {4});
    EXPECT_EQ(compare(a, b).mismatched, 0);
    EXPECT_EQ(compare(a, b).count, 4);
    // The imaginary part of element 2: of little-endian numbers, the last byte has the sign.
    const auto width = static_cast<std::size_t>(bits(dtype) / 8);
    a.mutable_data()[3 * width - 1] = std::byte{0xC0};
    const Metrics m = compare(a, b);
    EXPECT_EQ(m.mismatched, 1);
    EXPECT_EQ(m.worst.index, 2);
    EXPECT_EQ(m.worst.value, -2);
    EXPECT_EQ(m.max_abs, 2);
  }
}

TEST(Metrics, RanksOfRows) {
  const Metrics m =
      compare(floats({1, 2, 3, 9, 8, 7}, {2, 3}), doubles({1, 2, 3, 8, 9, 7}, {2, 3}));
  ASSERT_TRUE(m.top1.has_value());
  EXPECT_DOUBLE_EQ(*m.top1, 0.5);
  EXPECT_DOUBLE_EQ(*m.top5, 1);
}

TEST(Metrics, NinetyNinthPercentile) {
  std::vector<float> actual(1000, 1.0f);
  std::vector<double> reference(1000, 1.0);
  for (std::size_t i = 0; i < 5; ++i) actual[i] = 2.0f;
  EXPECT_EQ(compare(floats(actual), doubles(reference)).p99_ulp, 0);
  for (std::size_t i = 0; i < 20; ++i) actual[i] = 1.0f + 3 * std::ldexp(1.0f, -23);
  const double p99 = compare(floats(actual), doubles(reference)).p99_ulp;
  EXPECT_NEAR(p99, 3, 0.2);
}

TEST(Metrics, IntegersAreExact) {
  const std::vector<std::int64_t> a = {1, 2, 1LL << 60};
  const std::vector<std::int64_t> b = {1, 3, (1LL << 60) + 1};
  const Metrics m = compare(Tensor::from_ints(a), Tensor::from_ints(b));
  EXPECT_EQ(m.mismatched, 2);
}

TEST(Metrics, IndexText) {
  EXPECT_EQ(index_text(floats({1, 2, 3, 4, 5, 6}, {2, 3}), 5), "[1, 2]");
  EXPECT_EQ(index_text(Tensor::scalar<float>(1), 0), "[]");
}

TEST(Metrics, EmptyTensor) {
  const Metrics m = compare(floats({}, {0, 4}), doubles({}, {0, 4}));
  EXPECT_EQ(m.count, 0);
  EXPECT_EQ(m.mismatched, 0);
}

}  // namespace
}  // namespace concord::parity
