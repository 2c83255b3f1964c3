// Element types of the kernels, and scalar conversions for those that C++20 lacks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace concord::cpu {

enum class Element : std::uint8_t {
  f32,
  f16,
  bf16,
  f64,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean  // boolean: one byte, 0 or 1
};

constexpr std::size_t element_size(Element type) {
  switch (type) {
    case Element::i8:
    case Element::u8:
    case Element::boolean:
      return 1;
    case Element::f16:
    case Element::bf16:
    case Element::i16:
    case Element::u16:
      return 2;
    case Element::f32:
    case Element::i32:
    case Element::u32:
      return 4;
    default:
      return 8;
  }
}

struct BFloat16 {
  std::uint16_t bits;
};
struct Half {
  std::uint16_t bits;
};

inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

// Nearest, ties to even; a NaN stays one and is made quiet.
inline BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  }
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

inline float to_float(Half value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const std::uint32_t rest = value.bits & 0x7fffu;
  if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
  if (rest >= 0x400u) return std::bit_cast<float>(sign | ((rest << 13) + (112u << 23)));
  const float magnitude = static_cast<float>(rest) * 0x1p-24f;  // subnormal, exact
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

// Nearest, ties to even; subnormals kept; beyond 65519.99 becomes infinity.
inline Half to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return {static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu))};
  }
  if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) {
    // Adding 0.5 leaves the value, in units of 2^-24, rounded in the low bits of the mantissa.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {
        static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u))};
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23);
  return {static_cast<std::uint16_t>(sign | (rounded >> 13))};
}

template <typename T>
struct ElementOf;
template <>
struct ElementOf<float> {
  static constexpr Element value = Element::f32;
};
template <>
struct ElementOf<Half> {
  static constexpr Element value = Element::f16;
};
template <>
struct ElementOf<BFloat16> {
  static constexpr Element value = Element::bf16;
};
template <>
struct ElementOf<double> {
  static constexpr Element value = Element::f64;
};
template <>
struct ElementOf<std::int8_t> {
  static constexpr Element value = Element::i8;
};
template <>
struct ElementOf<std::int16_t> {
  static constexpr Element value = Element::i16;
};
template <>
struct ElementOf<std::int32_t> {
  static constexpr Element value = Element::i32;
};
template <>
struct ElementOf<std::int64_t> {
  static constexpr Element value = Element::i64;
};
template <>
struct ElementOf<std::uint8_t> {
  static constexpr Element value = Element::u8;
};
template <>
struct ElementOf<std::uint16_t> {
  static constexpr Element value = Element::u16;
};
template <>
struct ElementOf<std::uint32_t> {
  static constexpr Element value = Element::u32;
};
template <>
struct ElementOf<std::uint64_t> {
  static constexpr Element value = Element::u64;
};
template <>
struct ElementOf<bool> {
  static constexpr Element value = Element::boolean;
};

}  // namespace concord::cpu
