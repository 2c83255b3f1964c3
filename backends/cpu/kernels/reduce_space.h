// The kept and the reduced axes of a reduction, each merged where they lie side by side.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "backends/cpu/kernels/reduce.h"

namespace concord::cpu {

struct ReduceSpace {
  static constexpr std::size_t kMaxRank = 16;
  int kept_rank = 0, reduced_rank = 0;
  std::array<std::int64_t, kMaxRank> kept_extent{}, kept_stride{};
  std::array<std::int64_t, kMaxRank> reduced_extent{}, reduced_stride{};
  std::int64_t kept_count = 1, reduced_count = 1;

  ReduceSpace(std::span<const std::int64_t> shape, std::uint32_t axes) {
    std::array<std::int64_t, kMaxRank> stride{};
    std::int64_t dense = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      stride[i] = dense;
      dense *= shape[i];
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const bool reduced = (axes >> i & 1u) != 0;
      (reduced ? reduced_count : kept_count) *= shape[i];
      if (shape[i] == 1) continue;
      auto& extents = reduced ? reduced_extent : kept_extent;
      auto& strides = reduced ? reduced_stride : kept_stride;
      int& rank = reduced ? reduced_rank : kept_rank;
      if (rank > 0) {
        const auto last = static_cast<std::size_t>(rank - 1);
        if (strides[last] == stride[i] * shape[i]) {
          extents[last] *= shape[i];
          strides[last] = stride[i];
          continue;
        }
      }
      extents[static_cast<std::size_t>(rank)] = shape[i];
      strides[static_cast<std::size_t>(rank++)] = stride[i];
    }
    if (reduced_rank == 0) {
      reduced_extent[0] = 1;
      reduced_stride[0] = 1;
      reduced_rank = 1;
    }
  }

  std::int64_t kept_offset(std::int64_t item) const {
    std::int64_t offset = 0;
    for (int i = kept_rank - 1; i >= 0; --i) {
      const auto a = static_cast<std::size_t>(i);
      offset += item % kept_extent[a] * kept_stride[a];
      item /= kept_extent[a];
    }
    return offset;
  }

  // Calls f(i, offset) for the reduced elements in row-major order.
  template <typename F>
  void for_each_reduced(F f) const {
    std::array<std::int64_t, kMaxRank> index{};
    std::int64_t offset = 0;
    for (std::int64_t i = 0; i < reduced_count; ++i) {
      f(i, offset);
      for (int axis = reduced_rank - 1; axis >= 0; --axis) {
        const auto a = static_cast<std::size_t>(axis);
        offset += reduced_stride[a];
        if (++index[a] < reduced_extent[a]) break;
        offset -= reduced_stride[a] * reduced_extent[a];
        index[a] = 0;
      }
    }
  }
};

// Every type but f32.
void reduce_exact(ReduceOp op, Element type, const ReduceSpace& space, const void* x, void* out);

}  // namespace concord::cpu
