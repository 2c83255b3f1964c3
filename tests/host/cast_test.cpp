#include <cmath>
#include <limits>

#include "tests/host/host_case.h"

namespace concord::test {
namespace {

std::string cast(const Tensor& x, DataType to, std::int64_t saturate = 1) {
  return host_text(OpKind::cast, {x}, {{"to", to}, {"saturate", saturate}});
}

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Cast, FloatToInteger) {
  EXPECT_EQ(cast(f32({4}, {1.9f, -1.9f, 300, -3}), DataType::i8), "int8[4]{1, -1, 127, -3}");
  EXPECT_EQ(cast(f32({4}, {kInf, -kInf, std::nanf(""), 1e10f}), DataType::i32),
            "int32[4]{2147483647, -2147483648, 0, 2147483647}");
  EXPECT_EQ(cast(f32({2}, {-1, 255.5f}), DataType::u8), "uint8[2]{0, 255}");
  EXPECT_EQ(cast(f32({3}, {0, -0.5f, std::nanf("")}), DataType::boolean), "bool[3]{0, 1, 1}");
  EXPECT_EQ(cast(f32({1}, {1e30f}), DataType::i64), "int64[1]{9223372036854775807}");
}

TEST(Cast, IntegersKeepLowBits) {
  EXPECT_EQ(cast(i64({3}, {300, -1, 128}), DataType::u8), "uint8[3]{44, 255, 128}");
  EXPECT_EQ(cast(i64({3}, {300, -1, 128}), DataType::i8), "int8[3]{44, -1, -128}");
  EXPECT_EQ(cast(i64({3}, {7, 8, -9}), DataType::i4), "int4[3]{7, -8, 7}");
  EXPECT_EQ(cast(i64({2}, {0, 5}), DataType::boolean), "bool[2]{0, 1}");
  EXPECT_EQ(cast(bools({2}, {true, false}), DataType::f32), "float32[2]{1, 0}");
}

TEST(Cast, LargeIntegersRoundOnce) {
  // 2^60 + 2^36 + 1 lies just above the middle of two floats; float64 loses the 1.
  EXPECT_EQ(cast(i64({1}, {(1L << 60) + (1L << 36) + 1}), DataType::f32),
            cast(f32({1}, {std::ldexp(1.0f, 60) + std::ldexp(1.0f, 37)}), DataType::f32));
  EXPECT_EQ(cast(tensor<std::uint64_t>({1}, {~0UL}), DataType::f64), "float64[1]{1.84467441e+19}");
}

TEST(Cast, SmallFloats) {
  EXPECT_EQ(cast(f32({3}, {65504, 65520, 1.0f + 0x1p-11f}), DataType::f16),
            "float16[3]{65504, inf, 1}");
  EXPECT_EQ(cast(f32({2}, {1000, -1000}), DataType::f8e4m3fn), "float8e4m3fn[2]{448, -448}");
  EXPECT_EQ(cast(f32({1}, {1000}), DataType::f8e4m3fn, 0), "float8e4m3fn[1]{nan}");
  EXPECT_EQ(cast(f32({1}, {1e6f}), DataType::f8e5m2, 0), "float8e5m2[1]{inf}");
  EXPECT_EQ(cast(f32({4}, {0.25f, 2.5f, 7, -0.76f}), DataType::f4e2m1),
            "float4e2m1[4]{0, 2, 6, -1}");
  EXPECT_EQ(cast(f32({1}, {3.1f}), DataType::bf16), "bfloat16[1]{3.09375}");
}

TEST(Cast, Strings) {
  EXPECT_EQ(cast(strings({5}, {"3.5", " -1e2 ", "+INF", "NaN", "1e400"}), DataType::f32),
            "float32[5]{3.5, -100, inf, nan, inf}");
  EXPECT_EQ(cast(strings({3}, {"42", "-7", "2.9"}), DataType::i32), "int32[3]{42, -7, 2}");
  EXPECT_EQ(cast(strings({1}, {"9223372036854775807"}), DataType::i64),
            "int64[1]{9223372036854775807}");
  EXPECT_EQ(cast(f32({6}, {0.1f, 1, 1e20f, 1e-5f, kInf, -2.5f}), DataType::string),
            "string[6]{0.1, 1.0, 1e+20, 1e-05, inf, -2.5}");
  EXPECT_EQ(cast(i64({1}, {-3}), DataType::string), "string[1]{-3}");
  EXPECT_EQ(host_error(OpKind::cast, {strings({1}, {"abc"})}, {{"to", DataType::f32}}),
            "\"abc\" is not a number");
}

}  // namespace
}  // namespace concord::test
