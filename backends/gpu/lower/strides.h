#pragma once

// Index arithmetic of elementwise and copying kernels.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "graph/tensor.h"

namespace concord::gpu {

constexpr std::size_t kMaxAxes = 6;  // that kernels can walk
using Axes = std::array<std::int32_t, kMaxAxes>;

// A walk over all coordinates below `extents`, with an offset per operand that moves by strides.
// Missing axes stand in front, as extents of 1.
struct Walk {
  std::int32_t count = 0;  // elements
  std::int32_t rank = 0;   // axes that are really there
  Axes extents{1, 1, 1, 1, 1, 1};
  std::vector<Axes> strides;  // in elements, per operand
};

// The walk over `extents` with these strides per operand (in elements), axes of one element dropped
// and neighbours joined where all operands allow it. Throws when more than `max_axes` remain or an
// index does not fit 31 bits.
Walk make_walk(const Shape& extents, std::span<const Shape> strides,
               std::size_t max_axes = kMaxAxes);

// Strides of a contiguous tensor of `shape` when it is broadcast to `target`: 0 along broadcast
// axes.
Shape broadcast_strides(const Shape& shape, const Shape& target);

// How many elements of the contiguous `shape` repeat to give `target` by broadcasting over leading
// axes; nullopt where broadcasting is of another kind. 1 for a scalar, the count for equal shapes.
std::optional<std::int32_t> period(const Shape& shape, const Shape& target);

// Workgroups for kernels that take `per_group` elements each, in the rows of lib/indexing.slang.
std::array<std::uint32_t, 3> flat_groups(std::int64_t elements, std::int64_t per_group = 1024);

// Throws unless `count` fits the 31 bits in which kernels count.
std::int32_t to_i32(std::int64_t count);

// Sets consecutive int parameters, the first of which is `first`.
template <class Params>
void set_ints(Params& params, std::int32_t Params::*first, std::span<const std::int32_t> values) {
  static_assert(std::is_standard_layout_v<Params>);
  auto* base = reinterpret_cast<std::byte*>(&params);
  const auto offset = reinterpret_cast<std::byte*>(&(params.*first)) - base;
  std::memcpy(base + offset, values.data(), values.size_bytes());
}

}  // namespace concord::gpu
