#include "backends/cpu/kernels/conv_taps.h"

#include <algorithm>

#include "backends/cpu/kernels/conv_internal.h"
#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/conv_taps.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/matmul_epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

// One panel of output channels for the lines [begin, end) of outputs.
void convolve_lines(const ConvArgs& a, const std::byte* panel, int vectors, std::int64_t begin,
                    std::int64_t end, float* sums) {
  const ConvExtents& e = a.extents;
  const std::int64_t width = e.out[2];
  constexpr std::int64_t kStepBytes = kPanel * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t pixel = e.stride[2] * a.spatial_stride[2];
  std::fill_n(sums, (end - begin) * width * kPanel, 0.0f);
  for (std::int64_t tap = 0; tap < e.taps(); ++tap) {
    MicroArgs micro{};
    micro.steps = e.in_channels;
    micro.lda = pixel * static_cast<std::int64_t>(sizeof(float));
    micro.b = panel + tap * e.in_channels * kStepBytes;
    micro.b_step = kStepBytes;
    micro.ld_sums = kPanel;
    micro.accumulate = true;
    const auto meets = [&](std::int64_t line, OutputRange range, std::int64_t offset) {
      const RowBlocks blocks(range.end - range.first, kMaxRows);
      std::int64_t at = 0;
      for (std::int64_t block = 0; block < blocks.count; ++block) {
        const int height = blocks.height(block);
        micro.a = reinterpret_cast<const std::byte*>(a.x + offset + at * pixel);
        micro.sums = sums + ((line - begin) * width + range.first + at) * kPanel;
        micro_kernel<StepF32>(height, vectors)(micro);
        at += height;
      }
    };
    walk_tap(e, {a.batch_stride, a.spatial_stride}, tap, begin, end, meets,
             [](std::int64_t, OutputRange) {});
  }
}

}  // namespace

void taps_share(const ConvArgs& a, const std::byte* panels, const MatmulRegion& region) {
  const ConvExtents& e = a.extents;
  const std::int64_t width = e.out[2];
  const std::int64_t panel_bytes = e.taps() * e.in_channels * kPanel * 4;
  const std::int64_t block = std::max<std::int64_t>(1, kTapSumBytes / (width * kPanel * 4));
  auto* sums = reinterpret_cast<float*>(
      thread_scratch(static_cast<std::size_t>(block * width * kPanel) * sizeof(float), 0));
  Epilogue epilogue;
  epilogue.bias = a.bias;
  epilogue.activation = a.activation;
  epilogue.residual = a.residual;
  epilogue.residual_stride = e.out_channels;
  const TileWriter write = tile_writer(a.activation);
  for (std::int64_t panel = region.panel_begin; panel < region.panel_end; ++panel) {
    const std::int64_t column = panel * kPanel;
    const std::int64_t columns = std::min<std::int64_t>(kPanel, e.out_channels - column);
    const int vectors = static_cast<int>((columns + kMatLanes - 1) / kMatLanes);
    for (std::int64_t line = region.row_begin; line < region.row_end; line += block) {
      const std::int64_t end = std::min(region.row_end, line + block);
      convolve_lines(a, panels + panel * panel_bytes, vectors, line, end, sums);
      const std::int64_t row = line * width;
      write(sums, kPanel,
            {&epilogue, row, column, (end - line) * width, columns,
             reinterpret_cast<std::byte*>(a.y + row * e.out_channels + column), e.out_channels,
             Element::f32});
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace concord::cpu {

HWY_EXPORT(taps_share);

void convolve_taps(const PackedWeights& weights, const ConvArgs& a) {
  const ConvExtents& e = a.extents;
  const int width = matmul_panel_width();
  const std::int64_t lines = e.batch * e.out[0] * e.out[1];
  const std::int64_t panels = (weights.n() + width - 1) / width;
  const auto multiplies =
      static_cast<double>(lines * e.out[2] * weights.n()) * static_cast<double>(weights.k());
  run_regions(cut_product(lines, panels, multiplies / 50 + 1), [&](const MatmulRegion& region) {
    HWY_DYNAMIC_DISPATCH(taps_share)(a, packed_panels(weights), region);
  });
}

}  // namespace concord::cpu
#endif
