#include "backends/gpu/convert.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "graph/error.h"

namespace concord::gpu {
namespace {

template <class To>
std::span<To> view(std::span<std::byte> bytes, std::int64_t count) {
  return {reinterpret_cast<To*>(bytes.data()), static_cast<std::size_t>(count)};
}

constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();

// Exporters write the largest and smallest int64 for "to the end"; these are clamped.
bool fits(std::int64_t value) {
  return (value >= kLow && value <= kHigh) || value == std::numeric_limits<std::int64_t>::max() ||
         value == std::numeric_limits<std::int64_t>::min();
}

bool fits_unsigned(std::uint64_t value) {
  return value <= std::numeric_limits<std::uint32_t>::max();
}

std::string too_wide(const std::string& value, std::size_t at) {
  return "the integer " + value + " at element " + std::to_string(at) +
         " does not fit the 32 bits in which this device keeps integers";
}

[[noreturn]] void refuse_wide(const std::string& text) {
  throw Error(ErrorKind::unsupported, text, "use the cpu backend for this model");
}

void narrow(std::span<const std::int64_t> from, std::span<std::int32_t> to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!fits(from[i])) refuse_wide(too_wide(std::to_string(from[i]), i));
    to[i] = static_cast<std::int32_t>(std::clamp(from[i], kLow, kHigh));
  }
}

void narrow(std::span<const std::uint64_t> from, std::span<std::uint32_t> to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!fits_unsigned(from[i])) refuse_wide(too_wide(std::to_string(from[i]), i));
    to[i] = static_cast<std::uint32_t>(from[i]);
  }
}

template <class From, class To, class F>
void convert(const std::byte* from, std::span<To> to, F&& f) {
  const auto* values = reinterpret_cast<const From*>(from);
  std::transform(values, values + to.size(), to.begin(), f);
}

template <class From>
void widen(const std::byte* from, std::span<std::int32_t> to) {
  convert<From>(from, to, [](From value) -> std::int32_t { return value; });
}

void to_i32(const Tensor& tensor, std::span<std::int32_t> to) {
  switch (tensor.dtype()) {
    case DataType::i64:
      return narrow(tensor.as<std::int64_t>(), to);
    case DataType::boolean:
      return convert<std::uint8_t>(tensor.data(), to,
                                   [](std::uint8_t value) { return value != 0 ? 1 : 0; });
    case DataType::i8:
      return widen<std::int8_t>(tensor.data(), to);
    case DataType::u8:
      return widen<std::uint8_t>(tensor.data(), to);
    case DataType::i16:
      return widen<std::int16_t>(tensor.data(), to);
    case DataType::u16:
      return widen<std::uint16_t>(tensor.data(), to);
    default:  // packed below a byte
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = static_cast<std::int32_t>(tensor.at_int(static_cast<std::int64_t>(i)));
      }
  }
}

void to_f32(const Tensor& tensor, std::span<float> to) {
  if (tensor.dtype() == DataType::f16) {
    return convert<std::uint16_t>(tensor.data(), to, f16_to_f32);
  }
  if (tensor.dtype() == DataType::bf16) {
    return convert<std::uint16_t>(tensor.data(), to, bf16_to_f32);
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<float>(tensor.at_double(static_cast<std::int64_t>(i)));
  }
}

// Elements below a byte, low bits first.
template <class F>
void pack(std::span<std::byte> target, std::size_t count, int width, F&& bits_of) {
  std::ranges::fill(target, std::byte{0});
  const auto mask = (std::uint64_t{1} << width) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t bit = i * static_cast<std::size_t>(width);
    target[bit / 8] |= static_cast<std::byte>((bits_of(i) & mask) << bit % 8);
  }
}

template <class To, class From>
void cast_to(std::span<const From> from, std::byte* to) {
  std::transform(from.begin(), from.end(), reinterpret_cast<To*>(to),
                 [](From value) { return static_cast<To>(value); });
}

void from_i32(std::span<const std::int32_t> from, Tensor& tensor) {
  std::byte* to = tensor.mutable_data();
  switch (tensor.dtype()) {
    case DataType::i64:
      return cast_to<std::int64_t>(from, to);
    case DataType::boolean:
      std::ranges::transform(from, reinterpret_cast<std::uint8_t*>(to),
                             [](std::int32_t value) -> std::uint8_t { return value != 0 ? 1 : 0; });
      return;
    case DataType::i8:
    case DataType::u8:
      return cast_to<std::uint8_t>(from, to);
    case DataType::i16:
    case DataType::u16:
      return cast_to<std::uint16_t>(from, to);
    default:
      return pack({to, static_cast<std::size_t>(tensor.bytes())}, from.size(), bits(tensor.dtype()),
                  [&](std::size_t i) { return static_cast<std::uint64_t>(from[i]); });
  }
}

void from_f32(std::span<const float> from, Tensor& tensor) {
  std::byte* to = tensor.mutable_data();
  // What lies there is a number of the type already, infinity included.
  const auto bits_of = [&](float value) { return float_to_bits(tensor.dtype(), value, false); };
  switch (bits(tensor.dtype())) {
    case 16:
      std::ranges::transform(from, reinterpret_cast<std::uint16_t*>(to),
                             tensor.dtype() == DataType::f16 ? f32_to_f16 : f32_to_bf16);
      return;
    case 8:
      std::ranges::transform(from, reinterpret_cast<std::uint8_t*>(to), [&](float value) {
        return static_cast<std::uint8_t>(bits_of(value));
      });
      return;
    default:
      return pack({to, static_cast<std::size_t>(tensor.bytes())}, from.size(), bits(tensor.dtype()),
                  [&](std::size_t i) { return bits_of(from[i]); });
  }
}

}  // namespace

std::optional<DataType> storage_type(DataType dtype, Precision precision) {
  switch (dtype) {
    case DataType::f32:
      return precision == Precision::f16 ? DataType::f16 : DataType::f32;
    case DataType::f16:
      return precision == Precision::f32 ? DataType::f32 : DataType::f16;
    case DataType::f64:
      return DataType::f64;
    case DataType::bf16:
    case DataType::f8e4m3fn:
    case DataType::f8e4m3fnuz:
    case DataType::f8e5m2:
    case DataType::f8e5m2fnuz:
    case DataType::f8e8m0:
    case DataType::f4e2m1:
      return DataType::f32;
    case DataType::i64:
    case DataType::i32:
    case DataType::i16:
    case DataType::i8:
    case DataType::i4:
    case DataType::i2:
    case DataType::u16:
    case DataType::u8:
    case DataType::u4:
    case DataType::u2:
    case DataType::boolean:
      return DataType::i32;
    case DataType::u32:
    case DataType::u64:
      return DataType::u32;
    default:
      return std::nullopt;
  }
}

DataType shown_type(DataType dtype, Precision precision) {
  return dtype == DataType::f32 ? storage_type(dtype, precision).value_or(dtype) : dtype;
}

const char* type_suffix(DataType storage) {
  switch (storage) {
    case DataType::f32:
      return "f32";
    case DataType::f16:
      return "f16";
    case DataType::f64:
      return "f64";
    case DataType::u32:
      return "u32";
    default:
      return "i32";
  }
}

std::optional<std::string> why_not_stored(const Tensor& tensor) {
  const auto first_wide = [](const auto& values, auto&& fit) -> std::optional<std::string> {
    const auto wide = std::ranges::find_if_not(values, fit);
    if (wide == values.end()) return std::nullopt;
    return too_wide(std::to_string(*wide), static_cast<std::size_t>(wide - values.begin()));
  };
  if (tensor.dtype() == DataType::i64) return first_wide(tensor.as<std::int64_t>(), fits);
  if (tensor.dtype() == DataType::u64) return first_wide(tensor.as<std::uint64_t>(), fits_unsigned);
  return std::nullopt;
}

void to_storage(const Tensor& tensor, DataType storage, std::span<std::byte> target) {
  const std::int64_t count = tensor.count();
  if (count == 0) return;
  if (tensor.dtype() == storage) {
    std::memcpy(target.data(), tensor.in_place(), static_cast<std::size_t>(tensor.bytes()));
  } else if (storage == DataType::f16) {
    std::ranges::transform(tensor.as<float>(), view<std::uint16_t>(target, count).begin(),
                           f32_to_f16);
  } else if (storage == DataType::f32) {
    to_f32(tensor, view<float>(target, count));
  } else if (storage == DataType::u32) {
    narrow(tensor.as<std::uint64_t>(), view<std::uint32_t>(target, count));
  } else {
    to_i32(tensor, view<std::int32_t>(target, count));
  }
}

Tensor from_storage(std::span<const std::byte> source, DataType storage, DataType dtype,
                    Shape shape) {
  Tensor tensor(dtype, std::move(shape));
  const auto count = static_cast<std::size_t>(tensor.count());
  if (count == 0) return tensor;
  const auto elements = [&](auto of) {
    return std::span(reinterpret_cast<const decltype(of)*>(source.data()), count);
  };
  if (dtype == storage) {
    std::memcpy(tensor.mutable_data(), source.data(), static_cast<std::size_t>(tensor.bytes()));
  } else if (storage == DataType::f16) {
    std::ranges::transform(elements(std::uint16_t{}),
                           reinterpret_cast<float*>(tensor.mutable_data()), f16_to_f32);
  } else if (storage == DataType::f32) {
    from_f32(elements(float{}), tensor);
  } else if (storage == DataType::u32) {
    cast_to<std::uint64_t>(elements(std::uint32_t{}), tensor.mutable_data());
  } else {
    from_i32(elements(std::int32_t{}), tensor);
  }
  return tensor;
}

}  // namespace concord::gpu
