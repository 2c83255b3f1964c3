#include "backends/host/elements.h"

#include "backends/host/kernel.h"

namespace concord::host {

Tensor unpacked(const Tensor& packed) {
  const int width = bits(packed.dtype());
  const auto per_byte = static_cast<std::size_t>(8 / width);
  const auto mask = static_cast<std::uint8_t>((1u << width) - 1u);
  Tensor result(DataType::u8, packed.shape());
  const auto* from = reinterpret_cast<const std::uint8_t*>(packed.data());
  const std::span<std::uint8_t> to = result.as_mutable<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto shift = static_cast<int>(i % per_byte) * width;
    to[i] = static_cast<std::uint8_t>((from[i / per_byte] >> shift) & mask);
  }
  return result;
}

Tensor packed_as(DataType dtype, const Tensor& bytes) {
  const int width = bits(dtype);
  const auto per_byte = static_cast<std::size_t>(8 / width);
  const unsigned mask = (1u << width) - 1u;
  Tensor result = Tensor::zeros(dtype, bytes.shape());
  const std::span<const std::uint8_t> from = bytes.as<std::uint8_t>();
  auto* to = reinterpret_cast<std::uint8_t*>(result.mutable_data());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto shift = static_cast<int>(i % per_byte) * width;
    std::uint8_t& byte = to[i / per_byte];
    byte = static_cast<std::uint8_t>(byte | ((from[i] & mask) << shift));
  }
  return result;
}

std::vector<double> doubles(const Tensor& t) {
  std::vector<double> values(static_cast<std::size_t>(t.count()));
  switch (t.dtype()) {
    case DataType::f64: {
      const auto from = raw<double>(t);
      values.assign(from.begin(), from.end());
      break;
    }
    case DataType::f32: {
      const auto from = raw<float>(t);
      values.assign(from.begin(), from.end());
      break;
    }
    case DataType::f16: {
      const auto from = raw<std::uint16_t>(t);
      for (std::size_t i = 0; i < from.size(); ++i) values[i] = f16_to_f32(from[i]);
      break;
    }
    case DataType::bf16: {
      const auto from = raw<std::uint16_t>(t);
      for (std::size_t i = 0; i < from.size(); ++i) values[i] = bf16_to_f32(from[i]);
      break;
    }
    default:
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = t.at_double(static_cast<std::int64_t>(i));
      }
  }
  return values;
}

Tensor from_doubles(DataType dtype, Shape shape, std::span<const double> values) {
  if (is_sub_byte(dtype)) {
    Tensor bytes(DataType::u8, std::move(shape));
    const auto to = raw_mutable<std::uint8_t>(bytes);
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = static_cast<std::uint8_t>(float_to_bits(dtype, values[i], false));
    }
    return packed_as(dtype, bytes);
  }
  Tensor result(dtype, std::move(shape));
  if (dtype == DataType::f32) {
    const auto to = raw_mutable<float>(result);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(values[i]);
    return result;
  }
  with_raw(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      const auto to = raw_mutable<T>(result);
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = static_cast<T>(float_to_bits(dtype, values[i], false));
      }
    }
  });
  return result;
}

Shape position_of(std::int64_t flat, std::span<const std::int64_t> shape) {
  Shape position(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    position[d] = flat % shape[d];
    flat /= shape[d];
  }
  return position;
}

Shape broadcast_shapes(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape wide(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t x = d + a.size() < rank ? 1 : a[d + a.size() - rank];
    const std::int64_t y = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (x != y && x != 1 && y != 1) {
      fail("shapes " + to_string(a) + " and " + to_string(b) + " cannot be broadcast together");
    }
    wide[d] = x == 1 ? y : x;
  }
  return wide;
}

Shape broadcast_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> wide) {
  const Shape dense = contiguous_strides(shape);
  Shape strides(wide.size(), 0);
  const std::size_t shift = wide.size() - shape.size();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1 || wide[d + shift] == 1) strides[d + shift] = dense[d];
  }
  return strides;
}

std::int64_t extent_product(std::span<const std::int64_t> shape, std::size_t from, std::size_t to) {
  std::int64_t product = 1;
  for (std::size_t d = from; d < to; ++d) product *= shape[d];
  return product;
}

}  // namespace concord::host
