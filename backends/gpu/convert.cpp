#include "backends/gpu/convert.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "graph/error.h"

namespace concord::gpu {
namespace {

template <class To>
std::span<To> view(std::span<std::byte> bytes, std::int64_t count) {
  return {reinterpret_cast<To*>(bytes.data()), static_cast<std::size_t>(count)};
}

[[noreturn]] void no_conversion(DataType from, DataType to) {
  throw Error(ErrorKind::failed, "no conversion from " + std::string(to_string(from)) + " to " +
                                     std::string(to_string(to)) + " in device memory");
}

constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();

// Exporters write the largest and smallest int64 for "to the end"; these are clamped.
bool fits(std::int64_t value) {
  return (value >= kLow && value <= kHigh) || value == std::numeric_limits<std::int64_t>::max() ||
         value == std::numeric_limits<std::int64_t>::min();
}

std::string too_wide(std::int64_t value, std::size_t at) {
  return "the integer " + std::to_string(value) + " at element " + std::to_string(at) +
         " does not fit the 32 bits in which this device keeps integers";
}

void narrow(std::span<const std::int64_t> from, std::span<std::int32_t> to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!fits(from[i])) {
      throw Error(ErrorKind::unsupported, too_wide(from[i], i),
                  "use the cpu backend for this model");
    }
    to[i] = static_cast<std::int32_t>(std::clamp(from[i], kLow, kHigh));
  }
}

}  // namespace

std::optional<DataType> storage_type(DataType dtype, Precision precision) {
  switch (dtype) {
    case DataType::f32:
      return precision == Precision::f16 ? DataType::f16 : DataType::f32;
    case DataType::f16:
      return precision == Precision::f32 ? DataType::f32 : DataType::f16;
    case DataType::i64:
    case DataType::i32:
    case DataType::boolean:
      return DataType::i32;
    default:
      return std::nullopt;
  }
}

const char* type_suffix(DataType storage) {
  switch (storage) {
    case DataType::f32:
      return "f32";
    case DataType::f16:
      return "f16";
    default:
      return "i32";
  }
}

std::optional<std::string> why_not_stored(const Tensor& tensor, DataType storage) {
  if (storage != DataType::i32 || tensor.dtype() != DataType::i64) return std::nullopt;
  const std::span<const std::int64_t> values = tensor.as<std::int64_t>();
  const auto wide = std::ranges::find_if_not(values, fits);
  if (wide == values.end()) return std::nullopt;
  return too_wide(*wide, static_cast<std::size_t>(wide - values.begin()));
}

void to_storage(const Tensor& tensor, DataType storage, std::span<std::byte> target) {
  const std::int64_t count = tensor.count();
  if (count == 0) return;
  if (tensor.dtype() == storage) {
    std::memcpy(target.data(), tensor.in_place(), static_cast<std::size_t>(tensor.bytes()));
    return;
  }
  if (storage == DataType::i32 && tensor.dtype() == DataType::i64) {
    narrow(tensor.as<std::int64_t>(), view<std::int32_t>(target, count));
  } else if (storage == DataType::i32 && tensor.dtype() == DataType::boolean) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(tensor.data());
    std::ranges::transform(from, from + count, view<std::int32_t>(target, count).begin(),
                           [](std::uint8_t value) { return value != 0 ? 1 : 0; });
  } else if (storage == DataType::f16 && tensor.dtype() == DataType::f32) {
    std::ranges::transform(tensor.as<float>(), view<std::uint16_t>(target, count).begin(),
                           f32_to_f16);
  } else if (storage == DataType::f32 && tensor.dtype() == DataType::f16) {
    const auto* from = reinterpret_cast<const std::uint16_t*>(tensor.data());
    std::ranges::transform(from, from + count, view<float>(target, count).begin(), f16_to_f32);
  } else {
    no_conversion(tensor.dtype(), storage);
  }
}

Tensor from_storage(std::span<const std::byte> source, DataType storage, DataType dtype,
                    Shape shape) {
  Tensor tensor(dtype, std::move(shape));
  const auto count = static_cast<std::size_t>(tensor.count());
  if (count == 0) return tensor;
  std::byte* target = tensor.mutable_data();
  const auto* ints = reinterpret_cast<const std::int32_t*>(source.data());
  const auto* floats = reinterpret_cast<const float*>(source.data());
  const auto* halves = reinterpret_cast<const std::uint16_t*>(source.data());
  if (dtype == storage) {
    std::memcpy(target, source.data(), static_cast<std::size_t>(tensor.bytes()));
  } else if (storage == DataType::i32 && dtype == DataType::i64) {
    std::copy_n(ints, count, reinterpret_cast<std::int64_t*>(target));
  } else if (storage == DataType::i32 && dtype == DataType::boolean) {
    std::ranges::transform(ints, ints + count, reinterpret_cast<std::uint8_t*>(target),
                           [](std::int32_t value) -> std::uint8_t { return value != 0 ? 1 : 0; });
  } else if (storage == DataType::f16 && dtype == DataType::f32) {
    std::ranges::transform(halves, halves + count, reinterpret_cast<float*>(target), f16_to_f32);
  } else if (storage == DataType::f32 && dtype == DataType::f16) {
    std::ranges::transform(floats, floats + count, reinterpret_cast<std::uint16_t*>(target),
                           f32_to_f16);
  } else {
    no_conversion(storage, dtype);
  }
  return tensor;
}

}  // namespace concord::gpu
