#include "backends/cpu/kernels/matmul_int8.h"

#include <algorithm>

#include "backends/cpu/kernels/isa.h"
#include "backends/cpu/kernels/matmul_int8_internal.h"
#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/matmul_int8.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/matmul_epilogue-inl.h"
#include "backends/cpu/kernels/matmul_int8_correct-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

// Bytes of the left operand that stay in L2 beside a panel.
constexpr std::int64_t kByteRows = 256 << 10;

// What signed bytes are shifted by to become unsigned; their zero point moves along.
constexpr std::int32_t kShift = 128;

// The left operand's rows as the kernels want them: unsigned, in whole quads.
struct ByteLeft {
  const std::byte* data;
  std::int64_t stride;  // bytes
};

ByteLeft prepare_byte_rows(const ByteShare& share, std::int64_t row, std::int64_t rows) {
  const MatmulInt8Args& args = *share.args;
  const std::byte* source = args.a + row * args.lda;
  if (!args.a_signed && (share.k % 4 == 0 || args.a_whole_quads)) return {source, args.lda};
  const std::int64_t stride = (share.k + 3) / 4 * 4;
  std::byte* copy = thread_scratch(static_cast<std::size_t>(rows * stride), 1);
  const auto flip = args.a_signed ? std::byte{0x80} : std::byte{0};
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::byte* from = source + i * args.lda;
    std::byte* to = copy + i * stride;
    for (std::int64_t l = 0; l < share.k; ++l) to[l] = from[l] ^ flip;
    std::fill(to + share.k, to + stride, std::byte{0});
  }
  return {copy, stride};
}

std::int32_t row_zero(const MatmulInt8Args& args, std::int64_t row) {
  if (args.a_zeros == nullptr) return args.a_signed ? kShift : 0;
  const auto zero = static_cast<std::uint8_t>(args.a_zeros[row * args.a_zero_stride]);
  return args.a_signed ? static_cast<std::int8_t>(zero) + kShift : zero;
}

const std::int32_t* sums_of_rows(const ByteLeft& left, std::int64_t rows, std::int64_t k) {
  auto* sums =
      reinterpret_cast<std::int32_t*>(thread_scratch(static_cast<std::size_t>(rows) * 4, 2));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::byte* row = left.data + i * left.stride;
    std::uint32_t sum = 0;
    for (std::int64_t l = 0; l < k; ++l) sum += static_cast<std::uint8_t>(row[l]);
    sums[i] = static_cast<std::int32_t>(sum);
  }
  return sums;
}

template <class Quad>
void run_quads(const ByteShare& share) {
  const MatmulInt8Args& args = *share.args;
  const std::int64_t quads = (share.k + 3) / 4;
  const std::int64_t whole_panel = quads * kPanel * 4;
  const RowBlocks chunks(share.row_end - share.row_begin,
                         std::max<std::int64_t>(Quad::kRows, kByteRows / (4 * quads + 1)));
  const TileWriter write = tile_writer(args.epilogue.activation);
  HWY_ALIGN std::int32_t sums[Quad::kRows * kPanel];

  std::int64_t row = share.row_begin;
  for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    const std::int64_t chunk_rows = chunks.height(chunk);
    const ByteLeft left = prepare_byte_rows(share, row, chunk_rows);
    const std::int32_t* row_sums =
        share.has_zeros ? sums_of_rows(left, chunk_rows, share.k) : nullptr;
    const RowBlocks blocks(chunk_rows, Quad::kRows);
    for (std::int64_t panel = share.panel_begin; panel < share.panel_end; ++panel) {
      const std::int64_t column = panel * kPanel;
      const std::int64_t columns = std::min<std::int64_t>(kPanel, share.n - column);
      const int vectors = static_cast<int>((columns + kMatLanes - 1) / kMatLanes);
      // Lines of the next panel that each block of rows fetches; the hardware's prefetch would only
      // follow the first block.
      const bool more = panel + 1 < share.panel_end && blocks.count > 1;
      const std::int64_t lines =
          more ? std::min(quads, (whole_panel / 64 + blocks.count - 1) / blocks.count) : 0;
      const PanelCorrection correction(share, column, columns);
      std::int64_t at = 0;
      for (std::int64_t block = 0; block < blocks.count; ++block) {
        const int height = blocks.height(block);
        const ByteMicroKernel micro = byte_micro_kernel<Quad>(height, vectors);
        const std::byte* b = share.panels + panel * whole_panel;
        micro({quads, left.data + at * left.stride, left.stride, b, sums, false,
               b + whole_panel + block * lines * 64, lines});
        for (int i = 0; i < height; ++i) {
          const std::int64_t m = row + at + i;
          const std::int32_t row_sum = row_sums != nullptr ? row_sums[at + i] : 0;
          correct_row(share, correction, row_zero(args, m), row_sum, vectors, sums + i * kPanel);
          if (args.scales == nullptr) {
            std::copy_n(sums + i * kPanel, columns,
                        static_cast<std::int32_t*>(args.c) + m * args.ldc + column);
          }
        }
        if (args.scales != nullptr) {
          auto* c = static_cast<float*>(args.c) + (row + at) * args.ldc + column;
          write(reinterpret_cast<const float*>(sums), kPanel,
                {&args.epilogue, row + at, column, height, columns, reinterpret_cast<std::byte*>(c),
                 args.ldc, Element::f32});
        }
        at += height;
      }
    }
    row += chunk_rows;
  }
}

}  // namespace

void matmul_int8_share(const ByteShare& share) {
#if HWY_TARGET == HWY_AVX3
  if (has_int8_dot()) return run_quads<QuadVnni>(share);
#endif
  run_quads<QuadPortable>(share);
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <stdexcept>

namespace concord::cpu {

HWY_EXPORT(matmul_int8_share);

void run_byte_share(const ByteShare& share) {
  HWY_DYNAMIC_DISPATCH(matmul_int8_share)(share);
}

// Keeps PackedBytes' insides out of other files.
struct MatmulInt8Access {
  static ByteShare share(const PackedBytes& w, const MatmulInt8Args& args) {
    const int width = matmul_panel_width();
    if (w.panel_ != width) {
      throw std::logic_error("weights were packed for another instruction set");
    }
    ByteShare whole;
    whole.args = &args;
    whole.panels = w.buffer_.data();
    whole.columns = w.columns_.as<std::int32_t>();
    whole.padded_n = (w.n() + width - 1) / width * width;
    whole.k = w.k();
    whole.n = w.n();
    whole.has_zeros = w.has_zeros_;
    return whole;
  }
};

ByteShare whole_share(const PackedBytes& weights, const MatmulInt8Args& args) {
  return MatmulInt8Access::share(weights, args);
}

void matmul_int8(const PackedBytes& w, const MatmulInt8Args& args) {
  if (args.rows == 0 || w.n() == 0) return;
  const ByteShare whole = whole_share(w, args);
  const std::int64_t panels = whole.padded_n / matmul_panel_width();
  const auto multiplies = static_cast<double>(args.rows) * static_cast<double>(w.n() * w.k());
  const double nanoseconds = std::max(multiplies / 200, static_cast<double>(w.bytes()) / 25) + 1;
  run_regions(cut_product(args.rows, panels, nanoseconds), [&](const MatmulRegion& region) {
    ByteShare share = whole;
    share.row_begin = region.row_begin;
    share.row_end = region.row_end;
    share.panel_begin = region.panel_begin;
    share.panel_end = region.panel_end;
    run_byte_share(share);
  });
}

}  // namespace concord::cpu
#endif
