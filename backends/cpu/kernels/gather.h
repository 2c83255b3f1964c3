// Gather and scatter families. Indices may be negative (from the end). Every function returns true,
// or false if an index is out of range: then what it wrote is unspecified but within bounds, and
// *bad holds the index that was found first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/kernels/number.h"

namespace concord::cpu {

// Indices of i32 or i64.
struct Indices {
  const void* data = nullptr;
  Element type = Element::i64;
  std::int64_t count = 0;
};

// dst [outer, count, inner] = src [outer, axis, inner] at the indices of the middle axis.
[[nodiscard]] bool gather(std::size_t element_bytes, std::int64_t outer, std::int64_t axis,
                          std::int64_t inner, const void* src, Indices indices, void* dst,
                          std::int64_t* bad);

// dst, shaped as indices, = src with the axis' coordinate replaced by the index.
[[nodiscard]] bool gather_elements(std::size_t element_bytes,
                                   std::span<const std::int64_t> src_shape,
                                   std::span<const std::int64_t> index_shape, int axis,
                                   const void* src, Indices indices, void* dst, std::int64_t* bad);

// indices [batch, count, depth]; src [batch, axes[0], …, axes[depth-1], inner];
// dst [batch, count, inner].
[[nodiscard]] bool gather_nd(std::size_t element_bytes, std::int64_t batch, std::int64_t count,
                             std::span<const std::int64_t> axes, std::int64_t inner,
                             const void* src, Indices indices, void* dst, std::int64_t* bad);

enum class ScatterOp : std::uint8_t { none, add, mul, max, min };

// dst, already a copy of the data and of data_shape, at these strides, is changed at the indices,
// in their order. Reductions: f32, f16, bf16, f64, i32, i64, and u8, i8 (none: any type).
[[nodiscard]] bool scatter_elements(Element type, ScatterOp op,
                                    std::span<const std::int64_t> data_shape,
                                    std::span<const std::int64_t> index_shape, int axis,
                                    Indices indices, const void* updates, void* dst,
                                    std::span<const std::int64_t> dst_stride, std::int64_t* bad);

// indices [count, depth]; updates [count, inner]; dst [axes[0], …, axes[depth-1], inner].
[[nodiscard]] bool scatter_nd(Element type, ScatterOp op, std::int64_t count,
                              std::span<const std::int64_t> axes, std::int64_t inner,
                              Indices indices, const void* updates, void* dst, std::int64_t* bad);

}  // namespace concord::cpu
