#include "backends/cpu/kernels/copy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "backends/cpu/kernels/copy_internal.h"
#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {
namespace {

constexpr int kMaxRank = 16;
constexpr double kBytesPerNanosecond = 8;

struct Axis {
  std::int64_t extent, src, dst;  // strides in elements
};

// The copy with axes of extent 1 dropped, sorted by the destination's stride, and merged.
struct Plan {
  std::array<Axis, kMaxRank> axes;
  int rank = 0;
};

Plan make_plan(std::span<const std::int64_t> shape, std::span<const std::int64_t> src,
               std::span<const std::int64_t> dst) {
  Plan plan;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1)
      plan.axes[static_cast<std::size_t>(plan.rank++)] = {shape[i], src[i], dst[i]};
  }
  const auto begin = plan.axes.begin();
  // By insertion: stable, and without the memory that std::stable_sort asks for.
  for (int i = 1; i < plan.rank; ++i) {
    for (auto at = begin + i; at != begin && std::abs(at[-1].dst) < std::abs(at->dst); --at) {
      std::iter_swap(at, at - 1);
    }
  }
  int kept = 0;
  for (int i = 0; i < plan.rank; ++i) {
    const Axis axis = plan.axes[static_cast<std::size_t>(i)];
    if (kept > 0) {
      Axis& last = plan.axes[static_cast<std::size_t>(kept - 1)];
      if (last.src == axis.src * axis.extent && last.dst == axis.dst * axis.extent) {
        last = {last.extent * axis.extent, axis.src, axis.dst};
        continue;
      }
    }
    plan.axes[static_cast<std::size_t>(kept++)] = axis;
  }
  plan.rank = kept;
  return plan;
}

template <std::size_t kBytes>
struct Word {
  std::array<std::byte, kBytes> bytes;
};
template <>
struct Word<1> {
  std::uint8_t value;
};
template <>
struct Word<2> {
  std::uint16_t value;
};
template <>
struct Word<4> {
  std::uint32_t value;
};
template <>
struct Word<8> {
  std::uint64_t value;
};

// The innermost two axes: `rows` by `columns`.
struct Block {
  std::int64_t rows, columns;
  std::int64_t src_row, src_column, dst_row, dst_column;
};

template <std::size_t kBytes>
void copy_block(const Block& b, const std::byte* src, std::byte* dst) {
  using W = Word<kBytes>;
  const auto* from = reinterpret_cast<const W*>(src);
  auto* to = reinterpret_cast<W*>(dst);
  if (b.src_column == 1 && b.dst_column == 1) {
    for (std::int64_t r = 0; r < b.rows; ++r) {
      std::memcpy(to + r * b.dst_row, from + r * b.src_row,
                  static_cast<std::size_t>(b.columns) * kBytes);
    }
    return;
  }
  if (b.src_column == 0 && b.dst_column == 1) {
    for (std::int64_t r = 0; r < b.rows; ++r) {
      std::fill_n(to + r * b.dst_row, b.columns, from[r * b.src_row]);
    }
    return;
  }
  if (b.src_row == 1 && b.dst_column == 1) {
    if constexpr (kBytes == 4) {
      transpose_words(reinterpret_cast<const std::uint32_t*>(from), b.src_column, b.columns, b.rows,
                      reinterpret_cast<std::uint32_t*>(to), b.dst_row);
      return;
    }
    // Blocks that keep the lines of both sides in L1.
    constexpr std::int64_t kSide = 16;
    for (std::int64_t r0 = 0; r0 < b.rows; r0 += kSide) {
      const std::int64_t r1 = std::min(b.rows, r0 + kSide);
      for (std::int64_t c0 = 0; c0 < b.columns; c0 += kSide) {
        const std::int64_t c1 = std::min(b.columns, c0 + kSide);
        for (std::int64_t r = r0; r < r1; ++r) {
          for (std::int64_t c = c0; c < c1; ++c) {
            to[r * b.dst_row + c] = from[c * b.src_column + r];
          }
        }
      }
    }
    return;
  }
  for (std::int64_t r = 0; r < b.rows; ++r) {
    for (std::int64_t c = 0; c < b.columns; ++c) {
      to[r * b.dst_row + c * b.dst_column] = from[r * b.src_row + c * b.src_column];
    }
  }
}

using BlockCopy = void (*)(const Block&, const std::byte*, std::byte*);

BlockCopy block_copy(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return copy_block<1>;
    case 2:
      return copy_block<2>;
    case 4:
      return copy_block<4>;
    case 8:
      return copy_block<8>;
    default:
      return copy_block<16>;
  }
}

void run_plan(Plan plan, std::size_t element_bytes, const std::byte* src, std::byte* dst) {
  const auto size = static_cast<std::int64_t>(element_bytes);
  while (plan.rank < 2) {
    for (int i = plan.rank; i > 0; --i) {
      plan.axes[static_cast<std::size_t>(i)] = plan.axes[static_cast<std::size_t>(i - 1)];
    }
    plan.axes[0] = {1, 0, 0};
    ++plan.rank;
  }
  // In a transposition the axis that is dense in the source becomes the block's rows.
  const auto last = static_cast<std::size_t>(plan.rank - 1);
  if (plan.axes[last].src != 1 && plan.axes[last].src != 0) {
    for (std::size_t i = 0; i < last; ++i) {
      if (plan.axes[i].src == 1) {
        std::rotate(plan.axes.begin() + static_cast<std::ptrdiff_t>(i),
                    plan.axes.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    plan.axes.begin() + static_cast<std::ptrdiff_t>(last));
        break;
      }
    }
  }
  const Axis& rows = plan.axes[last - 1];
  const Axis& columns = plan.axes[last];
  const BlockCopy copy = block_copy(element_bytes);
  std::int64_t outer = 1;
  for (std::size_t i = 0; i + 2 <= last; ++i) outer *= plan.axes[i].extent;
  // Rows are cut too, so that one large matrix can go over threads: pieces of some 16 KiB.
  const std::int64_t row_bytes = std::max<std::int64_t>(1, columns.extent * size);
  std::int64_t height = std::clamp<std::int64_t>(16384 / row_bytes, 1, rows.extent);
  if (height > 16) height = height / 16 * 16;
  const std::int64_t pieces = (rows.extent + height - 1) / height;
  const double nanoseconds = static_cast<double>(height * row_bytes) / kBytesPerNanosecond + 2 +
                             static_cast<double>(height);
  parallel_for(outer * pieces, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t row = item % pieces * height;
                   std::int64_t index = item / pieces;
                   std::int64_t from = row * rows.src;
                   std::int64_t to = row * rows.dst;
                   for (auto i = static_cast<std::ptrdiff_t>(last) - 2; i >= 0; --i) {
                     const Axis& axis = plan.axes[static_cast<std::size_t>(i)];
                     from += index % axis.extent * axis.src;
                     to += index % axis.extent * axis.dst;
                     index /= axis.extent;
                   }
                   const Block block{std::min(height, rows.extent - row),
                                     columns.extent,
                                     rows.src,
                                     columns.src,
                                     rows.dst,
                                     columns.dst};
                   copy(block, src + from * size, dst + to * size);
                 }
               });
}

}  // namespace

void copy_strided(std::size_t element_bytes, std::span<const std::int64_t> shape, const void* src,
                  std::span<const std::int64_t> src_stride, void* dst,
                  std::span<const std::int64_t> dst_stride) {
  for (const std::int64_t extent : shape) {
    if (extent == 0) return;
  }
  Plan plan = make_plan(shape, src_stride, dst_stride);
  const auto* from = static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  if (plan.rank == 0) {
    std::memcpy(to, from, element_bytes);
    return;
  }
  if (plan.rank == 1 && plan.axes[0].src == 1 && plan.axes[0].dst == 1) {
    copy_bytes(static_cast<std::size_t>(plan.axes[0].extent) * element_bytes, from, to);
    return;
  }
  // A run that is dense on both sides is one wider element if it has a size that suits.
  Axis& last = plan.axes[static_cast<std::size_t>(plan.rank - 1)];
  while (plan.rank > 1 && last.src == 1 && last.dst == 1 && last.extent % 2 == 0 &&
         element_bytes < 16) {
    bool even = true;
    for (int i = 0; i + 1 < plan.rank; ++i) {
      const Axis& axis = plan.axes[static_cast<std::size_t>(i)];
      even = even && axis.src % 2 == 0 && axis.dst % 2 == 0;
    }
    const auto aligned = [&](const std::byte* p) {
      return reinterpret_cast<std::uintptr_t>(p) % std::min<std::size_t>(8, element_bytes * 2) == 0;
    };
    if (!even || !aligned(from) || !aligned(to)) break;
    element_bytes *= 2;
    last.extent /= 2;
    for (int i = 0; i + 1 < plan.rank; ++i) {
      Axis& axis = plan.axes[static_cast<std::size_t>(i)];
      axis.src /= 2;
      axis.dst /= 2;
    }
    if (last.extent == 1) {
      --plan.rank;
      break;
    }
  }
  run_plan(plan, element_bytes, from, to);
}

void transpose(std::size_t element_bytes, std::span<const std::int64_t> shape,
               std::span<const int> perm, const void* src, void* dst) {
  std::array<std::int64_t, kMaxRank> src_stride{};
  std::array<std::int64_t, kMaxRank> out_shape{};
  std::array<std::int64_t, kMaxRank> from{};
  std::array<std::int64_t, kMaxRank> to{};
  const std::size_t rank = shape.size();
  std::int64_t dense = 1;
  for (std::size_t i = rank; i-- > 0;) {
    src_stride[i] = dense;
    dense *= shape[i];
  }
  for (std::size_t i = 0; i < rank; ++i) {
    out_shape[i] = shape[static_cast<std::size_t>(perm[i])];
    from[i] = src_stride[static_cast<std::size_t>(perm[i])];
  }
  dense = 1;
  for (std::size_t i = rank; i-- > 0;) {
    to[i] = dense;
    dense *= out_shape[i];
  }
  copy_strided(element_bytes, {out_shape.data(), rank}, src, {from.data(), rank}, dst,
               {to.data(), rank});
}

void fill(std::size_t element_bytes, std::int64_t n, const void* value, void* dst) {
  const std::array<std::int64_t, 1> shape{n};
  const std::array<std::int64_t, 1> none{0};
  const std::array<std::int64_t, 1> one{1};
  copy_strided(element_bytes, shape, value, none, dst, one);
}

void copy_bytes(std::size_t bytes, const void* src, void* dst) {
  if (src == dst) return;
  parallel_for(static_cast<std::int64_t>(bytes), 65536, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<std::byte*>(dst) + begin, static_cast<const std::byte*>(src) + begin,
                static_cast<std::size_t>(end - begin));
  });
}

}  // namespace concord::cpu
