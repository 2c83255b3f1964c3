#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {
namespace {

constexpr std::size_t kMaxRank = 16;

// Where element i of a padded axis comes from, -1 for the constant. A reflection of a reflection
// may be needed where the pad is longer than the axis.
std::int64_t source_index(std::int64_t i, std::int64_t extent, PadMode mode) {
  if (i >= 0 && i < extent) return i;
  switch (mode) {
    case PadMode::constant:
      return -1;
    case PadMode::edge:
      return i < 0 ? 0 : extent - 1;
    case PadMode::wrap:
      return ((i % extent) + extent) % extent;
    case PadMode::reflect: {
      if (extent == 1) return 0;
      const std::int64_t period = 2 * (extent - 1);
      const std::int64_t place = ((i % period) + period) % period;
      return place < extent ? place : period - place;
    }
  }
  return -1;
}

}  // namespace

void pad(std::size_t element_bytes, std::span<const std::int64_t> shape, const void* src,
         std::span<const std::int64_t> before, std::span<const std::int64_t> after, PadMode mode,
         const void* value, void* dst) {
  const std::size_t rank = shape.size();
  std::array<std::int64_t, kMaxRank> out_shape{};
  std::array<std::int64_t, kMaxRank> src_stride{};
  std::array<std::int64_t, kMaxRank> dst_stride{};
  std::int64_t in_dense = 1;
  std::int64_t total = 1;
  for (std::size_t i = rank; i-- > 0;) {
    out_shape[i] = shape[i] + before[i] + after[i];
    src_stride[i] = in_dense;
    dst_stride[i] = total;
    in_dense *= shape[i];
    total *= std::max<std::int64_t>(0, out_shape[i]);
  }
  if (total == 0) return;
  const auto* from = static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  const auto size = static_cast<std::int64_t>(element_bytes);
  if (mode == PadMode::constant) {
    fill(element_bytes, total, value, dst);
    std::array<std::int64_t, kMaxRank> inner{};
    std::int64_t src_offset = 0;
    std::int64_t dst_offset = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t low = std::max<std::int64_t>(0, -before[i]);
      const std::int64_t high = shape[i] - std::max<std::int64_t>(0, -after[i]);
      if (high <= low) return;
      inner[i] = high - low;
      src_offset += low * src_stride[i];
      dst_offset += (low + before[i]) * dst_stride[i];
    }
    copy_strided(element_bytes, {inner.data(), rank}, from + src_offset * size,
                 {src_stride.data(), rank}, to + dst_offset * size, {dst_stride.data(), rank});
    return;
  }
  // Source offsets of every index of every axis, then rows of gathered elements.
  std::vector<std::vector<std::int64_t>> offsets(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    for (std::int64_t i = 0; i < out_shape[axis]; ++i) {
      offsets[axis].push_back(source_index(i - before[axis], shape[axis], mode) * src_stride[axis]);
    }
  }
  if (rank == 0) return copy_bytes(element_bytes, src, dst);
  const std::int64_t columns = out_shape[rank - 1];
  parallel_for(total / columns, 2048 / columns + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t index = row;
      std::int64_t base = 0;
      for (std::size_t axis = rank - 1; axis-- > 0;) {
        base += offsets[axis][static_cast<std::size_t>(index % out_shape[axis])];
        index /= out_shape[axis];
      }
      std::byte* out = to + row * columns * size;
      for (std::int64_t c = 0; c < columns; ++c) {
        std::memcpy(out + c * size,
                    from + (base + offsets[rank - 1][static_cast<std::size_t>(c)]) * size,
                    element_bytes);
      }
    }
  });
}

}  // namespace concord::cpu
