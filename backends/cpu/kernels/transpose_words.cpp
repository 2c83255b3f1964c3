#include "backends/cpu/kernels/copy_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/transpose_words.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void transpose_blocks(const std::uint32_t* src, std::int64_t src_stride, std::int64_t rows,
                      std::int64_t columns, std::uint32_t* dst, std::int64_t dst_stride) {
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<std::uint32_t, 4> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  // Sixteen source rows at a time: a cache line of each destination row is written in one go.
  while (i + 4 <= rows) {
    const std::int64_t band = rows - i >= 16 ? 16 : 4;
    std::int64_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      for (std::int64_t k = 0; k < band; k += 4) {
        const std::uint32_t* row = src + (i + k) * src_stride + j;
        const auto a = hn::LoadU(d, row);
        const auto b = hn::LoadU(d, row + src_stride);
        const auto c = hn::LoadU(d, row + 2 * src_stride);
        const auto e = hn::LoadU(d, row + 3 * src_stride);
        const auto ab_low = hn::BitCast(wide, hn::InterleaveLower(d, a, b));
        const auto ab_high = hn::BitCast(wide, hn::InterleaveUpper(d, a, b));
        const auto ce_low = hn::BitCast(wide, hn::InterleaveLower(d, c, e));
        const auto ce_high = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
        std::uint32_t* out = dst + j * dst_stride + i + k;
        hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_low, ce_low)), d, out);
        hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_low, ce_low)), d, out + dst_stride);
        hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_high, ce_high)), d,
                   out + 2 * dst_stride);
        hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_high, ce_high)), d,
                   out + 3 * dst_stride);
      }
    }
    for (; j < columns; ++j) {
      for (std::int64_t x = 0; x < band; ++x) {
        dst[j * dst_stride + i + x] = src[(i + x) * src_stride + j];
      }
    }
    i += band;
  }
#endif
  for (; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) dst[j * dst_stride + i] = src[i * src_stride + j];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(transpose_blocks);

void transpose_words(const std::uint32_t* src, std::int64_t src_stride, std::int64_t rows,
                     std::int64_t columns, std::uint32_t* dst, std::int64_t dst_stride) {
  HWY_DYNAMIC_DISPATCH(transpose_blocks)(src, src_stride, rows, columns, dst, dst_stride);
}

}  // namespace concord::cpu
#endif
