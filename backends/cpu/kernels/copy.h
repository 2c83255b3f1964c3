// Moving elements without changing them: permutations, slices, concatenations, expansions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace concord::cpu {

// dst[i · dst_stride] = src[i · src_stride] for every index i of the shape. Strides in elements, of
// any sign; src strides of 0 expand. dst must not overlap itself or src. Elements of 1, 2, 4, 8 or
// 16 bytes. Axes are merged and reordered first: a concat, a slice or a broadcast becomes runs of
// memcpy, a transpose becomes blocks that are transposed in registers.
void copy_strided(std::size_t element_bytes, std::span<const std::int64_t> shape, const void* src,
                  std::span<const std::int64_t> src_stride, void* dst,
                  std::span<const std::int64_t> dst_stride);

// dst (dense) = src (dense, of this shape) with axes permuted: axis i of dst is axis perm[i] of
// src.
void transpose(std::size_t element_bytes, std::span<const std::int64_t> shape,
               std::span<const int> perm, const void* src, void* dst);

// n elements, all equal to the one at value.
void fill(std::size_t element_bytes, std::int64_t n, const void* value, void* dst);

// Plain copy of bytes, over threads where it pays.
void copy_bytes(std::size_t bytes, const void* src, void* dst);

enum class PadMode : std::uint8_t { constant, reflect, edge, wrap };
// dst [shape[i] + before[i] + after[i]] dense; negative pads cut. value: one element, for constant.
void pad(std::size_t element_bytes, std::span<const std::int64_t> shape, const void* src,
         std::span<const std::int64_t> before, std::span<const std::int64_t> after, PadMode mode,
         const void* value, void* dst);

}  // namespace concord::cpu
