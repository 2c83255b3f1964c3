#include "backends/reference/pieces.h"

#include <algorithm>

#include "backends/host/elements.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

// Sub-byte elements go one per byte while they are moved.
Tensor movable(const Tensor& t) {
  return is_sub_byte(t.dtype()) ? host::unpacked(t) : t;
}
Tensor restored(const Tensor& moved, DataType dtype) {
  return is_sub_byte(dtype) ? host::packed_as(dtype, moved) : moved;
}

}  // namespace

OracleValue take(const OracleValue& value, std::size_t axis, std::int64_t index) {
  const Tensor from = movable(value.value);
  Shape shape = from.shape();
  const std::int64_t extent = shape[axis];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  Tensor to(from.dtype(), shape);
  const std::int64_t outer = host::extent_product(shape, 0, axis);
  const std::int64_t inner = host::extent_product(shape, axis, shape.size());
  host::with_raw(from.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto source = host::raw<T>(from);
    const auto target = host::raw_mutable<T>(to);
    for (std::int64_t o = 0; o < outer; ++o) {
      std::copy_n(source.begin() + (o * extent + index) * inner, inner, target.begin() + o * inner);
    }
  });
  OracleValue result;
  result.declared = value.declared;
  result.overflow = value.overflow;
  result.value = restored(to, value.value.dtype());
  return result;
}

OracleValue stack(std::span<const OracleValue> parts, std::size_t axis, bool reversed) {
  const Tensor first = movable(parts[0].value);
  Shape shape = first.shape();
  const std::int64_t outer = host::extent_product(shape, 0, axis);
  const std::int64_t inner = host::extent_product(shape, axis, shape.size());
  const auto extent = static_cast<std::int64_t>(parts.size());
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), extent);
  Tensor to(first.dtype(), shape);
  OracleValue result;
  result.declared = parts[0].declared;
  for (std::int64_t i = 0; i < extent; ++i) {
    const OracleValue& part = parts[static_cast<std::size_t>(reversed ? extent - 1 - i : i)];
    if (part.value.shape() != first.shape()) {
      throw Error(ErrorKind::invalid,
                  "a scanned value changed its shape from " +
                      to_string(std::span<const std::int64_t>(first.shape())) + " to " +
                      to_string(std::span<const std::int64_t>(part.value.shape())));
    }
    result.overflow = result.overflow || part.overflow;
    const Tensor from = movable(part.value);
    host::with_raw(from.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto source = host::raw<T>(from);
      const auto target = host::raw_mutable<T>(to);
      for (std::int64_t o = 0; o < outer; ++o) {
        std::copy_n(source.begin() + o * inner, inner, target.begin() + (o * extent + i) * inner);
      }
    });
  }
  result.value = restored(to, parts[0].value.dtype());
  return result;
}

}  // namespace concord::reference
