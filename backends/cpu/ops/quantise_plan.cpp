#include "backends/cpu/ops/quantise_plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/ops/elementwise_plan.h"

namespace concord::cpu {
namespace {

struct Range {
  double low, high;
};

Range range_of(DataType dtype) {
  const int width = bits(dtype);
  if (is_signed_integer(dtype))
    return {-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1) - 1};
  return {0, std::ldexp(1.0, width) - 1};
}

std::uint64_t bits_at(const std::byte* data, std::int64_t i, int width) {
  if (width < 8) {
    const std::int64_t bit = i * width;
    const auto byte = static_cast<std::uint64_t>(data[bit / 8]);
    return byte >> (bit % 8) & ((1u << width) - 1);
  }
  std::uint64_t value = 0;
  std::memcpy(&value, data + i * width / 8, static_cast<std::size_t>(width) / 8);
  return value;
}

template <typename T>
void dequantise_rows(const Dequantise& a, float* y) {
  const auto* x = reinterpret_cast<const T*>(a.x);
  const auto* zero = reinterpret_cast<const T*>(a.zero);
  const ScaleLayout& l = a.layout;
  parallel_for(l.outer * l.axis, 1 + 20000 / (1 + l.inner),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t o = row / l.axis;
                   const std::int64_t at = row % l.axis;
                   const T* from = x + row * l.inner;
                   float* to = y + row * l.inner;
                   for (std::int64_t i = 0; i < l.inner; ++i) {
                     const std::int64_t s = l.index(o, at, i);
                     // Differences of 16-bit integers and smaller are exact; those of i32 have no
                     // zero point.
                     const float shifted = static_cast<float>(from[i]) -
                                           (zero != nullptr ? static_cast<float>(zero[s]) : 0.0f);
                     to[i] = shifted * a.scale[s];
                   }
                 }
               });
}

}  // namespace

ScaleLayout scale_layout(std::span<const std::int64_t> shape, std::int64_t scale_count,
                         std::int64_t axis, std::int64_t block) {
  ScaleLayout layout;
  layout.single = scale_count == 1 && block == 0;
  if (layout.single) {
    layout.inner = element_count(shape);
    return layout;
  }
  layout.block = block;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    (at < axis ? layout.outer : at == axis ? layout.axis : layout.inner) *= shape[i];
  }
  return layout;
}

SameLayout plan_same_layout(Planner& p) {
  const bool half = is_half(p.out_dtype());
  if (!half && p.output_may_be_strided(0) && permuted_order(p.view(0))) {
    const View x = is_half(p.dtype(0)) ? p.view_f32(0) : p.view(0);
    // A converted copy is dense.
    if (permuted_order(x)) return {x.at, p.out_strided(0, x.strides).at};
  }
  const Ref x = is_kernel_float(p.dtype(0)) ? p.in_f32(0) : p.in(0);
  return {x, p.out_f32(0)};
}

bool is_quantised(DataType dtype) {
  if (is_integer(dtype)) return bits(dtype) <= 32;
  return is_float(dtype) && bits(dtype) <= 8;
}

double quantised_at(DataType dtype, const std::byte* data, std::int64_t i) {
  const int width = bits(dtype);
  const std::uint64_t value = bits_at(data, i, width);
  if (is_float(dtype)) return float_from_bits(dtype, value);
  if (is_signed_integer(dtype) && (value >> (width - 1) & 1) != 0) {
    return static_cast<double>(value) - std::ldexp(1.0, width);
  }
  return static_cast<double>(value);
}

void quantised_set(DataType dtype, std::byte* data, std::int64_t i, double value) {
  const int width = bits(dtype);
  std::uint64_t stored = 0;
  if (is_float(dtype)) {
    stored = float_to_bits(dtype, value);
  } else {
    const Range range = range_of(dtype);
    const double rounded = std::clamp(std::nearbyint(value), range.low, range.high);
    stored = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::isnan(value) ? 0 : rounded));
  }
  if (width >= 8) {
    std::memcpy(data + i * width / 8, &stored, static_cast<std::size_t>(width) / 8);
    return;
  }
  const std::int64_t bit = i * width;
  const auto mask = static_cast<std::uint8_t>(((1u << width) - 1) << (bit % 8));
  auto byte = static_cast<std::uint8_t>(data[bit / 8]);
  byte = static_cast<std::uint8_t>((byte & ~mask) | (stored << (bit % 8) & mask));
  data[bit / 8] = static_cast<std::byte>(byte);
}

void dequantise(const Dequantise& a, float* y) {
  switch (a.from) {
    case DataType::u8:
      return dequantise_rows<std::uint8_t>(a, y);
    case DataType::i8:
      return dequantise_rows<std::int8_t>(a, y);
    case DataType::u16:
      return dequantise_rows<std::uint16_t>(a, y);
    case DataType::i16:
      return dequantise_rows<std::int16_t>(a, y);
    case DataType::i32:
      return dequantise_rows<std::int32_t>(a, y);
    default:
      break;
  }
  const ScaleLayout& l = a.layout;
  parallel_for(l.outer * l.axis, 1 + 4000 / (1 + l.inner),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   for (std::int64_t i = 0; i < l.inner; ++i) {
                     const std::int64_t at = row * l.inner + i;
                     const std::int64_t s = l.index(row / l.axis, row % l.axis, i);
                     const double zero = a.zero != nullptr ? quantised_at(a.from, a.zero, s) : 0.0;
                     y[at] = static_cast<float>(quantised_at(a.from, a.x, at) - zero) * a.scale[s];
                   }
                 }
               });
}

}  // namespace concord::cpu
