#include "backends/cpu/kernels/copy_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/stream_copy.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void stream_rows(const float* src, std::int64_t src_stride, std::int64_t rows, std::int64_t panels,
                 std::int64_t width, float* dst, std::int64_t panel_stride) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* from = src + r * src_stride;
    // The row after next: long strides leave the hardware's prefetch behind.
    const float* ahead = r + 2 < rows ? from + 2 * src_stride : from;
    for (std::int64_t p = 0; p < panels; ++p) {
      float* to = dst + p * panel_stride + r * width;
      for (std::int64_t i = 0; i < width; i += lanes) {
        if (i % 16 == 0) __builtin_prefetch(ahead + p * width + i, 0, 0);
        hn::Stream(hn::LoadU(d, from + p * width + i), d, to + i);
      }
    }
  }
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(stream_rows);

void stream_panels(const float* src, std::int64_t src_stride, std::int64_t rows,
                   std::int64_t panels, std::int64_t width, float* dst, std::int64_t panel_stride) {
  HWY_DYNAMIC_DISPATCH(stream_rows)(src, src_stride, rows, panels, width, dst, panel_stride);
}

}  // namespace concord::cpu
#endif
