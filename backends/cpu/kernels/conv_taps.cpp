#include <algorithm>
#include <cstring>

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

// Bytes of sums that stay in L1 beside the rows of one tap.
constexpr std::int64_t kSumBytes = 16 << 10;

// The outputs of an axis whose tap k lies in the input: [first, end).
struct OutputRange {
  std::int64_t first, end;
};

OutputRange outputs_of(const ConvExtents& e, int axis, std::int64_t k) {
  const std::int64_t offset = k * e.dilation[axis] - e.pad[axis];
  const std::int64_t stride = e.stride[axis];
  const auto at_least = [&](std::int64_t input) {  // the first output that reads it or a later one
    return std::max<std::int64_t>(0, (input - offset + stride - 1) / stride);
  };
  const std::int64_t first = offset >= 0 ? 0 : at_least(0);
  const std::int64_t end = e.in[axis] <= offset ? 0 : at_least(e.in[axis]);
  return {first, std::max(first, std::min(end, e.out[axis]))};
}

// One panel of output channels for the lines [begin, end) of outputs.
void convolve_lines(const ConvArgs& a, const std::byte* panel, int vectors, std::int64_t begin,
                    std::int64_t end, float* sums) {
  const ConvExtents& e = a.extents;
  const std::int64_t width = e.out[2];
  constexpr std::int64_t kStepBytes = kPanel * static_cast<std::int64_t>(sizeof(float));
  std::fill_n(sums, (end - begin) * width * kPanel, 0.0f);
  const std::byte* b = panel;
  for (std::int64_t tap = 0; tap < e.taps(); ++tap, b += e.in_channels * kStepBytes) {
    const std::int64_t k2 = tap % e.kernel[2];
    const std::int64_t k1 = tap / e.kernel[2] % e.kernel[1];
    const std::int64_t k0 = tap / (e.kernel[2] * e.kernel[1]);
    const OutputRange inside = outputs_of(e, 2, k2);
    const RowBlocks blocks(inside.end - inside.first, kMaxRows);
    const std::int64_t column = inside.first * e.stride[2] + k2 * e.dilation[2] - e.pad[2];
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t i1 = line % e.out[1] * e.stride[1] + k1 * e.dilation[1] - e.pad[1];
      const std::int64_t i0 =
          line / e.out[1] % e.out[0] * e.stride[0] + k0 * e.dilation[0] - e.pad[0];
      if (i0 < 0 || i0 >= e.in[0] || i1 < 0 || i1 >= e.in[1]) continue;
      const float* x = a.x + line / (e.out[1] * e.out[0]) * a.batch_stride +
                       i0 * a.spatial_stride[0] + i1 * a.spatial_stride[1] +
                       column * a.spatial_stride[2];
      const std::int64_t pixel = e.stride[2] * a.spatial_stride[2];
      std::int64_t at = inside.first;
      for (std::int64_t block = 0; block < blocks.count; ++block) {
        const int height = blocks.height(block);
        MicroArgs micro{};
        micro.steps = e.in_channels;
        micro.a = reinterpret_cast<const std::byte*>(x + (at - inside.first) * pixel);
        micro.lda = pixel * static_cast<std::int64_t>(sizeof(float));
        micro.b = b;
        micro.b_step = kStepBytes;
        micro.sums = sums + ((line - begin) * width + at) * kPanel;
        micro.ld_sums = kPanel;
        micro.accumulate = true;
        micro_kernel<StepF32>(height, vectors)(micro);
        at += height;
      }
    }
  }
}

}  // namespace

void taps_share(const ConvArgs& a, const std::byte* panels, const MatmulRegion& region) {
  const ConvExtents& e = a.extents;
  const std::int64_t width = e.out[2];
  const std::int64_t panel_bytes = e.taps() * e.in_channels * kPanel * 4;
  const std::int64_t block = std::max<std::int64_t>(1, kSumBytes / (width * kPanel * 4));
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
