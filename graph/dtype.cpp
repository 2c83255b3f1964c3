#include "graph/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace concord {
namespace {

struct TypeRow {
  DataType dtype;
  std::string_view name;
  int bits;
};

constexpr std::array kTypes = {
    TypeRow{DataType::undefined, "undefined", 0},
    TypeRow{DataType::f32, "float32", 32},
    TypeRow{DataType::u8, "uint8", 8},
    TypeRow{DataType::i8, "int8", 8},
    TypeRow{DataType::u16, "uint16", 16},
    TypeRow{DataType::i16, "int16", 16},
    TypeRow{DataType::i32, "int32", 32},
    TypeRow{DataType::i64, "int64", 64},
    TypeRow{DataType::string, "string", 0},
    TypeRow{DataType::boolean, "bool", 8},
    TypeRow{DataType::f16, "float16", 16},
    TypeRow{DataType::f64, "float64", 64},
    TypeRow{DataType::u32, "uint32", 32},
    TypeRow{DataType::u64, "uint64", 64},
    TypeRow{DataType::c64, "complex64", 64},
    TypeRow{DataType::c128, "complex128", 128},
    TypeRow{DataType::bf16, "bfloat16", 16},
    TypeRow{DataType::f8e4m3fn, "float8e4m3fn", 8},
    TypeRow{DataType::f8e4m3fnuz, "float8e4m3fnuz", 8},
    TypeRow{DataType::f8e5m2, "float8e5m2", 8},
    TypeRow{DataType::f8e5m2fnuz, "float8e5m2fnuz", 8},
    TypeRow{DataType::u4, "uint4", 4},
    TypeRow{DataType::i4, "int4", 4},
    TypeRow{DataType::f4e2m1, "float4e2m1", 4},
    TypeRow{DataType::f8e8m0, "float8e8m0", 8},
    TypeRow{DataType::u2, "uint2", 2},
    TypeRow{DataType::i2, "int2", 2},
};

// An IEEE-like small float. finite_only: the top exponent holds numbers; fnuz: NaN is negative
// zero.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;
  bool fnuz;
  bool has_nan;
};

std::optional<Format> small_format(DataType dtype) {
  switch (dtype) {
    case DataType::f16:
      return Format{5, 10, 15, true, false, true};
    case DataType::bf16:
      return Format{8, 7, 127, true, false, true};
    case DataType::f8e4m3fn:
      return Format{4, 3, 7, false, false, true};
    case DataType::f8e4m3fnuz:
      return Format{4, 3, 8, false, true, true};
    case DataType::f8e5m2:
      return Format{5, 2, 15, true, false, true};
    case DataType::f8e5m2fnuz:
      return Format{5, 2, 16, false, true, true};
    case DataType::f4e2m1:
      return Format{2, 1, 1, false, false, false};
    default:
      return std::nullopt;
  }
}

double max_finite(const Format& f) {
  const int top = (1 << f.exponent_bits) - 1;
  const int all = (1 << f.mantissa_bits) - 1;
  if (f.has_infinity) {
    return std::ldexp(1.0 + all / std::ldexp(1.0, f.mantissa_bits), top - 1 - f.bias);
  }
  const int mantissa = (f.has_nan && !f.fnuz) ? all - 1 : all;
  return std::ldexp(1.0 + mantissa / std::ldexp(1.0, f.mantissa_bits), top - f.bias);
}

double decode(const Format& f, std::uint64_t raw) {
  const int width = 1 + f.exponent_bits + f.mantissa_bits;
  const bool negative = (raw >> (width - 1)) & 1;
  const int exponent = static_cast<int>((raw >> f.mantissa_bits) & ((1u << f.exponent_bits) - 1));
  const auto mantissa = static_cast<int>(raw & ((1u << f.mantissa_bits) - 1));
  const int top = (1 << f.exponent_bits) - 1;
  const int all = (1 << f.mantissa_bits) - 1;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (f.fnuz && negative && exponent == 0 && mantissa == 0) return nan;
  if (f.has_infinity && exponent == top) {
    if (mantissa != 0) return nan;
    const double inf = std::numeric_limits<double>::infinity();
    return negative ? -inf : inf;
  }
  if (!f.has_infinity && !f.fnuz && f.has_nan && exponent == top && mantissa == all) return nan;
  const double fraction = mantissa / std::ldexp(1.0, f.mantissa_bits);
  const double value = exponent == 0 ? std::ldexp(fraction, 1 - f.bias)
                                     : std::ldexp(1.0 + fraction, exponent - f.bias);
  return negative ? -value : value;
}

std::uint64_t nan_bits(const Format& f) {
  if (f.fnuz) return std::uint64_t{1} << (f.exponent_bits + f.mantissa_bits);
  const std::uint64_t exponent = ((std::uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
  if (f.has_infinity) return exponent | (std::uint64_t{1} << (f.mantissa_bits - 1));
  return exponent | ((std::uint64_t{1} << f.mantissa_bits) - 1);
}

std::uint64_t encode(const Format& f, double value, bool saturate) {
  const int sign_shift = f.exponent_bits + f.mantissa_bits;
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << sign_shift : 0;
  if (std::isnan(value)) return f.has_nan ? (f.fnuz ? nan_bits(f) : nan_bits(f) | sign) : 0;
  const double limit = max_finite(f);
  double magnitude = std::abs(value);
  const bool wide = f.mantissa_bits >= 7;  // f16 and bf16 overflow to infinity, as IEEE says
  const double smallest = std::ldexp(1.0, 1 - f.bias - f.mantissa_bits);
  if (!std::isinf(value)) {
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const double ulp = std::max(smallest, std::ldexp(1.0, exponent - 1 - f.mantissa_bits));
    magnitude = std::nearbyint(magnitude / ulp) * ulp;
  }
  if (magnitude > limit) {
    if (!f.has_nan || (saturate && !wide)) {
      magnitude = limit;
    } else if (f.has_infinity) {
      return sign | (((std::uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits);
    } else {
      return f.fnuz ? nan_bits(f) : nan_bits(f) | sign;
    }
  }
  if (magnitude == 0.0) return f.fnuz ? 0 : sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int biased = exponent - 1 + f.bias;
  if (biased <= 0) return sign | static_cast<std::uint64_t>(magnitude / smallest);
  const double fraction = std::ldexp(magnitude, -(exponent - 1)) - 1.0;
  return sign | (static_cast<std::uint64_t>(biased) << f.mantissa_bits) |
         static_cast<std::uint64_t>(std::ldexp(fraction, f.mantissa_bits));
}

}  // namespace

namespace {

// Names of the containers, by type.
const std::array<std::string, 0x80>& container_names() {
  static const std::array<std::string, 0x80> names = [] {
    std::array<std::string, 0x80> result;
    for (const TypeRow& row : kTypes) {
      const auto number = [](DataType dtype) { return static_cast<std::size_t>(dtype); };
      const std::string name(row.name);
      const DataType sequence = sequence_of(row.dtype);
      result[number(sequence)] = "sequence(" + name + ")";
      result[number(optional_of(row.dtype))] = "optional(" + name + ")";
      result[number(optional_of(sequence))] = "optional(sequence(" + name + "))";
    }
    return result;
  }();
  return names;
}

}  // namespace

std::string_view to_string(DataType dtype) {
  if (is_container(dtype)) return container_names()[static_cast<std::size_t>(dtype) & 0x7f];
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.name;
  }
  return "undefined";
}

std::optional<DataType> parse_dtype(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return row.dtype;
  }
  const auto& names = container_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty() && names[i] == name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

int bits(DataType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.bits;
  }
  return 0;
}

bool is_float(DataType dtype) {
  return dtype == DataType::f32 || dtype == DataType::f64 || dtype == DataType::f8e8m0 ||
         small_format(dtype).has_value();
}

bool is_signed_integer(DataType dtype) {
  switch (dtype) {
    case DataType::i2:
    case DataType::i4:
    case DataType::i8:
    case DataType::i16:
    case DataType::i32:
    case DataType::i64:
      return true;
    default:
      return false;
  }
}

bool is_integer(DataType dtype) {
  switch (dtype) {
    case DataType::u2:
    case DataType::u4:
    case DataType::u8:
    case DataType::u16:
    case DataType::u32:
    case DataType::u64:
      return true;
    default:
      return is_signed_integer(dtype);
  }
}

bool is_sub_byte(DataType dtype) {
  const int width = bits(dtype);
  return width > 0 && width < 8;
}

std::int64_t storage_bytes(DataType dtype, std::int64_t count) {
  const std::int64_t width = bits(dtype);
  return width >= 8 ? count * (width / 8) : (count * width + 7) / 8;
}

std::uint16_t f32_to_f16(float value) {
  const auto x = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (x >> 16) & 0x8000u;
  const std::uint32_t magnitude = x & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);
  if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);
  if (magnitude < 0x38800000u) {
    // Subnormal in f16: adding 0.5 aligns the mantissa and rounds to nearest even.
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(scaled) - 0x3F000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xFFFu + odd) >> 13));
}

float f16_to_f32(std::uint16_t raw) {
  const std::uint32_t sign = static_cast<std::uint32_t>(raw & 0x8000u) << 16;
  const std::uint32_t exponent = (raw >> 10) & 0x1Fu;
  const std::uint32_t mantissa = raw & 0x3FFu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

std::uint16_t f32_to_bf16(float value) {
  const auto x = std::bit_cast<std::uint32_t>(value);
  if ((x & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>((x >> 16) | 0x40u);
  return static_cast<std::uint16_t>((x + 0x7FFFu + ((x >> 16) & 1u)) >> 16);
}

float bf16_to_f32(std::uint16_t raw) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(raw) << 16);
}

double float_from_bits(DataType dtype, std::uint64_t raw) {
  if (dtype == DataType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(raw));
  if (dtype == DataType::f64) return std::bit_cast<double>(raw);
  if (dtype == DataType::f8e8m0) {
    if (raw == 255) return std::numeric_limits<double>::quiet_NaN();
    return std::ldexp(1.0, static_cast<int>(raw) - 127);
  }
  if (const auto format = small_format(dtype)) return decode(*format, raw);
  return std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t float_to_bits(DataType dtype, double value, bool saturate) {
  if (dtype == DataType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (dtype == DataType::f64) return std::bit_cast<std::uint64_t>(value);
  if (dtype == DataType::f8e8m0) {
    if (std::isnan(value)) return 255;
    // A power of two: ONNX's Cast rounds up by default.
    const double exponent = std::ceil(std::log2(std::abs(value)));
    if (std::isinf(exponent)) return exponent > 0 ? (saturate ? 254 : 255) : 0;
    if (exponent > 127) return saturate ? 254 : 255;
    return static_cast<std::uint64_t>(std::max(exponent, -127.0) + 127.0);
  }
  if (const auto format = small_format(dtype)) return encode(*format, value, saturate);
  return 0;
}

}  // namespace concord
