#include "backends/cpu/kernels/conv_int8_taps.h"

#include <algorithm>

#include "backends/cpu/kernels/isa.h"
#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/conv_int8_taps.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/matmul_epilogue-inl.h"
#include "backends/cpu/kernels/matmul_int8_correct-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

// row[0, kPanel) += zero · taps[0, kPanel): what a tap in the padding, which holds the zero point,
// adds.
void add_padding(std::int32_t zero, const std::int32_t* taps, std::int32_t* row) {
  const IntTag d;
  const IntVec z = hn::Set(d, zero);
  for (int j = 0; j < kPanel; j += kMatLanes) {
    const IntVec sum = hn::Add(hn::LoadU(d, row + j), hn::Mul(z, hn::LoadU(d, taps + j)));
    hn::StoreU(sum, d, row + j);
  }
}

// One panel of output channels for the lines [begin, end) of outputs.
template <class Quad>
void convolve_byte_lines(const ByteTaps& t, std::int64_t panel, int vectors, std::int64_t begin,
                         std::int64_t end, std::int32_t* sums) {
  const ConvExtents& e = *t.extents;
  const std::int64_t width = e.out[2];
  const std::int64_t pixel = e.stride[2] * t.strides.spatial[2];
  const std::int64_t tap_bytes = e.in_channels * kPanel;
  std::fill_n(sums, (end - begin) * width * kPanel, 0);
  for (std::int64_t tap = 0; tap < e.taps(); ++tap) {
    ByteMicroArgs micro{};
    micro.quads = e.in_channels / 4;
    micro.lda = pixel;
    micro.b = t.share.panels + (panel * e.taps() + tap) * tap_bytes;
    micro.accumulate = true;
    const std::int32_t* tap_sums = t.tap_sums + tap * t.share.padded_n + panel * kPanel;
    const auto meets = [&](std::int64_t line, OutputRange range, std::int64_t offset) {
      const RowBlocks blocks(range.end - range.first, Quad::kRows);
      std::int64_t at = 0;
      for (std::int64_t block = 0; block < blocks.count; ++block) {
        const int height = blocks.height(block);
        micro.a = t.x + offset + at * pixel;
        micro.sums = sums + ((line - begin) * width + range.first + at) * kPanel;
        byte_micro_kernel<Quad>(height, vectors)(micro);
        at += height;
      }
    };
    const auto skips = [&](std::int64_t line, OutputRange range) {
      if (t.zero == 0) return;
      for (std::int64_t o = range.first; o < range.end; ++o) {
        add_padding(t.zero, tap_sums, sums + ((line - begin) * width + o) * kPanel);
      }
    };
    walk_tap(e, t.strides, tap, begin, end, meets, skips);
  }
}

template <class Quad>
void run_byte_taps(const ByteTaps& t, const MatmulRegion& region) {
  const ConvExtents& e = *t.extents;
  const MatmulInt8Args& args = *t.share.args;
  const std::int64_t width = e.out[2];
  const std::int64_t block = std::max<std::int64_t>(1, kTapSumBytes / (width * kPanel * 4));
  auto* sums = reinterpret_cast<std::int32_t*>(
      thread_scratch(static_cast<std::size_t>(block * width * kPanel) * 4, 0));
  const TileWriter write = tile_writer(args.epilogue.activation);
  for (std::int64_t panel = region.panel_begin; panel < region.panel_end; ++panel) {
    const std::int64_t column = panel * kPanel;
    const std::int64_t columns = std::min<std::int64_t>(kPanel, e.out_channels - column);
    const int vectors = static_cast<int>((columns + kMatLanes - 1) / kMatLanes);
    const PanelCorrection correction(t.share, column, columns);
    for (std::int64_t line = region.row_begin; line < region.row_end; line += block) {
      const std::int64_t end = std::min(region.row_end, line + block);
      convolve_byte_lines<Quad>(t, panel, vectors, line, end, sums);
      const std::int64_t rows = (end - line) * width;
      for (std::int64_t i = 0; i < rows; ++i) {
        correct_row(t.share, correction, t.zero, 0, vectors, sums + i * kPanel);
      }
      auto* c = static_cast<float*>(args.c) + line * width * args.ldc + column;
      write(reinterpret_cast<const float*>(sums), kPanel,
            {&args.epilogue, line * width, column, rows, columns, reinterpret_cast<std::byte*>(c),
             args.ldc, Element::f32});
    }
  }
}

}  // namespace

void byte_taps_share(const ByteTaps& taps, const MatmulRegion& region) {
#if HWY_TARGET == HWY_AVX3
  if (has_int8_dot()) return run_byte_taps<QuadVnni>(taps, region);
#endif
  run_byte_taps<QuadPortable>(taps, region);
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace concord::cpu {

HWY_EXPORT(byte_taps_share);

void convolve_byte_taps(const ByteTaps& taps) {
  const ConvExtents& e = *taps.extents;
  const std::int64_t lines = e.batch * e.out[0] * e.out[1];
  const std::int64_t panels = taps.share.padded_n / matmul_panel_width();
  const auto multiplies = static_cast<double>(lines * e.out[2] * e.out_channels) *
                          static_cast<double>(e.taps() * e.in_channels);
  run_regions(cut_product(lines, panels, multiplies / 200 + 1), [&](const MatmulRegion& region) {
    HWY_DYNAMIC_DISPATCH(byte_taps_share)(taps, region);
  });
}

}  // namespace concord::cpu
#endif
