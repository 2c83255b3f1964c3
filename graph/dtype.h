#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace concord {

// All element types of ONNX. Numbers are ONNX's own (TensorProto.DataType), so files map one to
// one.
enum class DataType : std::uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
};

// Types of ONNX's containers. A container is a tensor of rank 1 whose elements are tensors: the
// items of a sequence, or what an optional holds, none or one.
constexpr DataType sequence_of(DataType element) {
  return static_cast<DataType>(static_cast<unsigned>(element) | 0x20u);
}
// Of a tensor, or of a sequence.
constexpr DataType optional_of(DataType held) {
  return static_cast<DataType>(static_cast<unsigned>(held) | 0x40u);
}
constexpr bool is_optional(DataType dtype) {
  return (static_cast<unsigned>(dtype) & 0x40u) != 0;
}
constexpr bool is_sequence(DataType dtype) {  // an optional sequence is none
  return (static_cast<unsigned>(dtype) & 0x60u) == 0x20u;
}
constexpr bool is_container(DataType dtype) {
  return (static_cast<unsigned>(dtype) & 0x60u) != 0;
}
// Of a container's items; for an optional sequence, the sequence's type.
constexpr DataType item_type(DataType container) {
  const auto bits = static_cast<unsigned>(container);
  return static_cast<DataType>(bits & ((bits & 0x40u) != 0 ? ~0x40u : ~0x20u));
}

// "float32", "int64", ... as numpy and ONNX name them; "sequence(float32)".
std::string_view to_string(DataType dtype);
std::optional<DataType> parse_dtype(std::string_view name);

// Bits of one element as stored; sub-byte types are packed, low bits first. 0 for string and for
// containers.
int bits(DataType dtype);
bool is_float(DataType dtype);    // f64 to f4, bf16 included; not complex
bool is_integer(DataType dtype);  // signed and unsigned, bool excluded
bool is_signed_integer(DataType dtype);
bool is_sub_byte(DataType dtype);
// Bytes that `count` elements take in dense storage (sub-byte types rounded up to a byte).
std::int64_t storage_bytes(DataType dtype, std::int64_t count);

// C++ type → DataType for the types that C++ has; bool is stored as one byte.
template <typename T>
constexpr DataType dtype_of();
template <>
constexpr DataType dtype_of<float>() {
  return DataType::f32;
}
template <>
constexpr DataType dtype_of<double>() {
  return DataType::f64;
}
template <>
constexpr DataType dtype_of<std::int8_t>() {
  return DataType::i8;
}
template <>
constexpr DataType dtype_of<std::uint8_t>() {
  return DataType::u8;
}
template <>
constexpr DataType dtype_of<std::int16_t>() {
  return DataType::i16;
}
template <>
constexpr DataType dtype_of<std::uint16_t>() {
  return DataType::u16;
}
template <>
constexpr DataType dtype_of<std::int32_t>() {
  return DataType::i32;
}
template <>
constexpr DataType dtype_of<std::uint32_t>() {
  return DataType::u32;
}
template <>
constexpr DataType dtype_of<std::int64_t>() {
  return DataType::i64;
}
template <>
constexpr DataType dtype_of<std::uint64_t>() {
  return DataType::u64;
}
template <>
constexpr DataType dtype_of<bool>() {
  return DataType::boolean;
}

// Conversions of the 16-bit floats, round to nearest even, NaN kept NaN.
std::uint16_t f32_to_f16(float value);
float f16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_bf16(float value);
float bf16_to_f32(std::uint16_t bits);

// Value of one element of any real float type given its bits (zero-extended); and the nearest bits
// for a value (round to nearest even; `saturate` as ONNX Cast: float8 overflow to max instead of
// NaN/inf).
double float_from_bits(DataType dtype, std::uint64_t bits);
std::uint64_t float_to_bits(DataType dtype, double value, bool saturate = true);

}  // namespace concord
