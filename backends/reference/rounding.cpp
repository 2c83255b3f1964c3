#include "backends/reference/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/host/elements.h"
#include "backends/reference/parallel.h"

namespace concord::reference {
namespace {

// f16 and bf16: `digits` bits of significand, `lowest` the exponent of the smallest normal number.
double round_small(double value, int digits, int lowest, double largest) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), lowest);
  // Adding 1.5·2^52 units leaves no room for what is below a unit.
  const double unit = std::ldexp(1.0, exponent - digits + 1);
  const double pusher = 0x1.8p52 * unit;
  const double magnitude = std::abs(value);
  const double rounded = (magnitude + pusher) - pusher;
  const double kept = rounded > largest ? std::numeric_limits<double>::infinity() : rounded;
  return std::copysign(kept, value);
}

}  // namespace

double round_to(DataType dtype, double value, bool saturate) {
  switch (dtype) {
    case DataType::f64:
      return value;
    case DataType::f32:
      return static_cast<double>(static_cast<float>(value));
    case DataType::f16:
      return round_small(value, 11, -14, 65504);
    case DataType::bf16:
      return round_small(value, 8, -126, 0x1.FEp127);
    default:
      return float_from_bits(dtype, float_to_bits(dtype, value, saturate));
  }
}

double unit_roundoff(DataType dtype) {
  switch (dtype) {
    case DataType::f64:
      return 0x1p-53;
    case DataType::f32:
      return 0x1p-24;
    case DataType::f16:
      return 0x1p-11;
    case DataType::bf16:
      return 0x1p-8;
    case DataType::f8e4m3fn:
    case DataType::f8e4m3fnuz:
      return 0x1p-4;
    case DataType::f8e5m2:
    case DataType::f8e5m2fnuz:
      return 0x1p-3;
    case DataType::f4e2m1:
      return 0x1p-2;
    case DataType::f8e8m0:
      return 0.5;
    default:
      return 0;
  }
}

double max_finite(DataType dtype) {
  switch (dtype) {
    case DataType::f32:
      return std::numeric_limits<float>::max();
    case DataType::f16:
      return 65504;
    case DataType::bf16:
      return 0x1.FEp127;
    case DataType::f8e4m3fn:
      return 448;
    case DataType::f8e4m3fnuz:
      return 240;
    case DataType::f8e5m2:
    case DataType::f8e5m2fnuz:
      return 57344;
    case DataType::f4e2m1:
      return 6;
    case DataType::f8e8m0:
      return 0x1p127;
    default:
      return std::numeric_limits<double>::max();
  }
}

double smallest_normal(DataType dtype) {
  switch (dtype) {
    case DataType::f32:
    case DataType::bf16:
      return 0x1p-126;
    case DataType::f16:
    case DataType::f8e5m2:
      return 0x1p-14;
    case DataType::f8e4m3fn:
      return 0x1p-6;
    case DataType::f8e4m3fnuz:
      return 0x1p-7;
    case DataType::f8e5m2fnuz:
      return 0x1p-15;
    case DataType::f4e2m1:
      return 1;
    case DataType::f8e8m0:
      return 0x1p-127;
    default:
      return std::numeric_limits<double>::min();
  }
}

IntegerLimits integer_limits(DataType dtype) {
  const int width = bits(dtype);
  if (is_signed_integer(dtype)) {
    return {-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1) - 1};
  }
  return {0, std::ldexp(1.0, width) - 1};
}

Tensor widened(const Tensor& tensor) {
  if (tensor.dtype() == DataType::f64) return tensor;
  Tensor wide(DataType::f64, tensor.shape());
  const auto to = host::raw_mutable<double>(wide);
  const auto convert = [&](auto&& value_at) {
    parallel_for(tensor.count(), grain_for(2), [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        to[i] = value_at(i);
      }
    });
  };
  switch (tensor.dtype()) {
    case DataType::f32: {
      const auto from = host::raw<float>(tensor);
      convert([&](std::size_t i) { return static_cast<double>(from[i]); });
      break;
    }
    case DataType::f16: {
      const auto from = host::raw<std::uint16_t>(tensor);
      convert([&](std::size_t i) { return static_cast<double>(f16_to_f32(from[i])); });
      break;
    }
    case DataType::bf16: {
      const auto from = host::raw<std::uint16_t>(tensor);
      convert([&](std::size_t i) { return static_cast<double>(bf16_to_f32(from[i])); });
      break;
    }
    default:
      convert([&](std::size_t i) { return tensor.at_double(static_cast<std::int64_t>(i)); });
  }
  return wide;
}

Tensor narrowed(const Tensor& wide, DataType dtype) {
  if (dtype == DataType::f64) return wide;
  const auto from = host::raw<double>(wide);
  if (dtype != DataType::f32 && dtype != DataType::f16 && dtype != DataType::bf16) {
    return host::from_doubles(dtype, wide.shape(), from);
  }
  Tensor result(dtype, wide.shape());
  parallel_for(wide.count(), grain_for(4), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      if (dtype == DataType::f32) {
        host::raw_mutable<float>(result)[i] = static_cast<float>(from[i]);
      } else {
        const auto exact = static_cast<float>(round_to(dtype, from[i]));
        host::raw_mutable<std::uint16_t>(result)[i] =
            dtype == DataType::f16 ? f32_to_f16(exact) : f32_to_bf16(exact);
      }
    }
  });
  return result;
}

namespace {

template <typename F>
Tensor with_each_item(const Tensor& container, F&& change) {
  std::vector<Tensor> items(container.items().begin(), container.items().end());
  for (Tensor& item : items) item = change(item);
  return Tensor::container(container.dtype(), std::move(items));
}

}  // namespace

Tensor widened_items(const Tensor& container) {
  return with_each_item(container, [](const Tensor& item) {
    if (is_container(item.dtype())) return widened_items(item);
    return is_float(item.dtype()) ? widened(item) : item;
  });
}

Tensor narrowed_items(const Tensor& container, DataType dtype) {
  const DataType inner = item_type(dtype);
  return with_each_item(container, [inner](const Tensor& item) {
    if (is_container(inner)) return narrowed_items(item, inner);
    return is_float(inner) && item.dtype() != inner ? narrowed(widened(item), inner) : item;
  });
}

}  // namespace concord::reference
