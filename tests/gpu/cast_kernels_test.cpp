#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/cast.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"

namespace concord::gpu {
namespace {

using Ints = std::vector<std::int32_t>;

template <class To, class From>
std::vector<To> cast(const std::string& name, const std::vector<From>& x, std::int32_t n,
                     std::size_t count) {
  const Buffer in = upload(x);
  const Buffer out = upload(std::vector<To>(count));
  launch<kernels::CastParams>("cast_" + name, flat_groups(n), {in.ptr, out.ptr, n});
  return download<To>(out, count);
}

// The value of a 16-bit float with `mantissa_bits`, by its definition.
double value_of(std::uint32_t bits, int mantissa_bits, int bias) {
  const int exponent_bits = 15 - mantissa_bits;
  const std::uint32_t exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
  const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const double sign = bits >> 15 != 0 ? -1.0 : 1.0;
  if (exponent == (1u << exponent_bits) - 1) return mantissa != 0 ? NAN : sign * INFINITY;
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1 + fraction, static_cast<int>(exponent) - bias);
}

struct Half {
  const char* name;
  int mantissa_bits, bias;
};

class HalfCast : public testing::TestWithParam<Half> {};

// All 65,536 values, there and back.
TEST_P(HalfCast, IsExactAndReversible) {
  const Half& h = GetParam();
  std::vector<std::uint32_t> packed(32768);
  for (std::uint32_t i = 0; i < 32768; ++i) packed[i] = 2 * i | (2 * i + 1) << 16;
  const std::vector<float> y = cast<float>(std::string(h.name) + "_f32", packed, 65536, 65536);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const double exact = value_of(i, h.mantissa_bits, h.bias);
    if (std::isnan(exact)) {
      ASSERT_TRUE(std::isnan(y[i])) << i;
    } else {
      ASSERT_EQ(y[i], exact) << i;
    }
  }
  const std::vector<std::uint32_t> back =
      cast<std::uint32_t>(std::string("f32_") + h.name, y, 65536, 32768);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const std::uint32_t bits = back[i / 2] >> (i % 2 * 16) & 0xffffu;
    if (std::isnan(y[i])) {
      ASSERT_TRUE(std::isnan(value_of(bits, h.mantissa_bits, h.bias))) << i;
    } else {
      ASSERT_EQ(bits, i);
    }
  }
}

// Between neighbours: the nearer one, the even one at the middle.
TEST_P(HalfCast, RoundsToNearestEven) {
  const Half& h = GetParam();
  std::vector<float> x;
  std::vector<std::uint32_t> expected;
  const std::uint32_t infinity = ((1u << (15 - h.mantissa_bits)) - 1) << h.mantissa_bits;
  for (std::uint32_t i = 0; i < infinity; ++i) {
    const double low = value_of(i, h.mantissa_bits, h.bias);
    // Above the largest finite value comes what would be the next one.
    const double high = i + 1 == infinity ? 2 * low - value_of(i - 1, h.mantissa_bits, h.bias)
                                          : value_of(i + 1, h.mantissa_bits, h.bias);
    const auto middle = static_cast<float>((low + high) / 2);
    if (std::fpclassify(middle) == FP_SUBNORMAL) continue;  // may be flushed
    x.push_back(middle);
    expected.push_back(i % 2 == 0 ? i : i + 1);
    x.push_back(std::nextafter(middle, 0.0f));
    expected.push_back(i);
    x.push_back(-std::nextafter(middle, INFINITY));
    expected.push_back((i + 1) | 0x8000u);
  }
  if (x.size() % 2 == 1) x.pop_back();
  const auto n = static_cast<std::int32_t>(x.size());
  const std::vector<std::uint32_t> y =
      cast<std::uint32_t>(std::string("f32_") + h.name, x, n, x.size() / 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(y[i / 2] >> (i % 2 * 16) & 0xffffu, expected[i]) << x[i];
  }
}

INSTANTIATE_TEST_SUITE_P(All, HalfCast, testing::Values(Half{"f16", 10, 15}, Half{"bf16", 7, 127}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Cast, FloatsAndIntegers) {
  const std::vector<float> x = {
      0,     -0.9f,  0.9f,           1.5f, -2.7f,    2147483520.0f, 2147483648.0f,
      3e30f, -3e30f, -2147483648.0f, NAN,  INFINITY, -INFINITY};
  const std::int32_t most = std::numeric_limits<std::int32_t>::max();
  const std::int32_t least = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(cast<std::int32_t>("f32_i32", x, 13, 13),
            (Ints{0, 0, 0, 1, -2, 2147483520, most, most, least, least, 0, most, least}));
  EXPECT_EQ(cast<std::int32_t>("f32_bool", x, 13, 13),
            (Ints{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  const Ints integers_in = {0, 5, -7, most, least, 16777217};
  EXPECT_EQ(cast<float>("i32_f32", integers_in, 6, 6),
            (std::vector<float>{0, 5, -7, 2147483648.0f, -2147483648.0f, 16777216.0f}));
  EXPECT_EQ(cast<std::int32_t>("i32_bool", integers_in, 6, 6), (Ints{0, 1, 1, 1, 1, 1}));
}

TEST(Cast, PackedIntegers) {
  const std::vector<std::uint32_t> bytes = {0x80ff7f01u, 0x00000005u};
  EXPECT_EQ(cast<std::int32_t>("i8_i32", bytes, 5, 6), (Ints{1, 127, -1, -128, 5, 0}));
  EXPECT_EQ(cast<std::int32_t>("u8_i32", bytes, 5, 6), (Ints{1, 127, 255, 128, 5, 0}));
  EXPECT_EQ(cast<float>("i8_f32", bytes, 4, 4), (std::vector<float>{1, 127, -1, -128}));
  EXPECT_EQ(cast<float>("u8_f32", bytes, 4, 4), (std::vector<float>{1, 127, 255, 128}));
  EXPECT_EQ(cast<std::int32_t>("i16_i32", bytes, 3, 3), (Ints{0x7f01, -32513, 5}));
  EXPECT_EQ(cast<std::int32_t>("u16_i32", bytes, 3, 3), (Ints{0x7f01, 0x80ff, 5}));
  EXPECT_EQ(cast<std::uint32_t>("i32_i8", Ints{1, 127, -1, -128, 261}, 5, 2), bytes);
  EXPECT_EQ(cast<std::uint32_t>("i32_i16", Ints{0x7f01, 0x80ff, 5}, 3, 2),
            (std::vector<std::uint32_t>{0x80ff7f01u, 5u}));
  EXPECT_EQ(cast<std::uint32_t>("f32_i8", std::vector<float>{1.5f, 127, -1, -128, 5}, 5, 2), bytes);
}

}  // namespace
}  // namespace concord::gpu
