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
#include "backends/cpu/kernels/matmul_int8_kernels-inl.h"

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
  if (!args.a_signed && share.k % 4 == 0) return {source, args.lda};
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

std::int32_t byte_sum(const std::byte* row, std::int64_t k) {
  std::uint32_t sum = 0;
  for (std::int64_t l = 0; l < k; ++l) sum += static_cast<std::uint8_t>(row[l]);
  return static_cast<std::int32_t>(sum);
}

// Sums of a tile's row, corrected for the zero points; as f32 times the scales if there are any, in
// the same place.
void correct_row(const ByteShare& share, std::int32_t zero, std::int32_t row_sum,
                 std::int64_t column, int vectors, std::int32_t* sums) {
  const IntTag d;
  const MatTag df;
  const MatmulInt8Args& args = *share.args;
  const std::int32_t* adjust = share.columns + column;
  const std::int32_t* zeros = share.columns + share.padded_n + column;
  const IntVec a_zero = hn::Set(d, zero);
  const IntVec a_sum = hn::Set(d, row_sum);
  for (int j = 0; j < vectors; ++j) {
    const std::int64_t at = j * kMatLanes;
    IntVec sum = hn::LoadU(d, sums + at);
    sum = hn::Sub(sum, hn::Mul(a_zero, hn::LoadU(d, adjust + at)));
    if (share.has_zeros) sum = hn::Sub(sum, hn::Mul(a_sum, hn::LoadU(d, zeros + at)));
    if (args.scales == nullptr) {
      hn::StoreU(sum, d, sums + at);
      continue;
    }
    MatVec scale = hn::Set(df, args.scales[0]);
    if (args.scale_stride != 0) {
      HWY_ALIGN float part[kMatLanes] = {};
      const std::int64_t left = std::min<std::int64_t>(kMatLanes, share.n - column - at);
      std::copy_n(args.scales + column + at, left, part);
      scale = hn::Load(df, part);
    }
    hn::StoreU(hn::Mul(hn::ConvertTo(df, sum), scale), df, reinterpret_cast<float*>(sums + at));
  }
}

template <class Quad>
void run_byte_share(const ByteShare& share) {
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
      std::int64_t at = 0;
      for (std::int64_t block = 0; block < blocks.count; ++block) {
        const int height = blocks.height(block);
        const ByteMicroKernel micro = byte_micro_kernel<Quad>(height, vectors);
        const std::byte* b = share.panels + panel * whole_panel;
        micro({quads, left.data + at * left.stride, left.stride, b, sums,
               b + whole_panel + block * lines * 64, lines});
        for (int i = 0; i < height; ++i) {
          const std::int64_t m = row + at + i;
          const std::int32_t row_sum =
              share.has_zeros ? byte_sum(left.data + (at + i) * left.stride, share.k) : 0;
          correct_row(share, row_zero(args, m), row_sum, column, vectors, sums + i * kPanel);
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
  if (has_int8_dot()) return run_byte_share<QuadVnni>(share);
#endif
  run_byte_share<QuadPortable>(share);
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <stdexcept>
#include <vector>

namespace concord::cpu {

HWY_EXPORT(matmul_int8_share);

namespace {

// Sign-extended; sums are modulo 2^32.
std::uint32_t extended(std::uint8_t byte) {
  return static_cast<std::uint32_t>(static_cast<std::int8_t>(byte));
}

// Four whole rows of a panel: out[c] holds column c of each, lowest first.
void pack_quad(const std::uint8_t* rows, std::int64_t stride, int width, std::uint8_t flip,
               std::uint32_t* out, std::uint32_t* sums) {
  for (int c = 0; c < width; ++c) {
    const auto b0 = static_cast<std::uint8_t>(rows[c] ^ flip);
    const auto b1 = static_cast<std::uint8_t>(rows[c + stride] ^ flip);
    const auto b2 = static_cast<std::uint8_t>(rows[c + 2 * stride] ^ flip);
    const auto b3 = static_cast<std::uint8_t>(rows[c + 3 * stride] ^ flip);
    out[c] = b0 | static_cast<std::uint32_t>(b1) << 8 | static_cast<std::uint32_t>(b2) << 16 |
             static_cast<std::uint32_t>(b3) << 24;
    sums[c] += extended(b0) + extended(b1) + extended(b2) + extended(b3);
  }
}

}  // namespace

PackedBytes PackedBytes::pack(const ByteMatrix& matrix, std::span<const std::int32_t> zeros) {
  PackedBytes packed;
  packed.k_ = matrix.rows;
  packed.n_ = matrix.cols;
  packed.panel_ = matmul_panel_width();
  const std::int64_t k = packed.k_;
  const std::int64_t n = packed.n_;
  const int width = packed.panel_;
  const std::int64_t panels = (n + width - 1) / width;
  const std::int64_t quads = (k + 3) / 4;
  packed.buffer_ = AlignedBuffer(static_cast<std::size_t>(panels * quads * width * 4));
  packed.columns_ = AlignedBuffer(static_cast<std::size_t>(2 * panels * width) * 4);
  // Unsigned values are shifted to be signed, and their zero points with them.
  const int shift = matrix.is_signed ? 0 : 128;
  const auto* source = static_cast<const std::uint8_t*>(matrix.data);
  auto* adjust = packed.columns_.as<std::int32_t>();
  std::int32_t* shifted_zeros = adjust + panels * width;
  for (std::int64_t column = 0; column < panels * width; ++column) {
    const std::int32_t zero = column >= n || zeros.empty()
                                  ? 0
                                  : zeros[zeros.size() == 1 ? 0 : static_cast<std::size_t>(column)];
    shifted_zeros[column] = column < n ? zero - shift : 0;
    packed.has_zeros_ = packed.has_zeros_ || shifted_zeros[column] != 0;
  }
  const auto flip = static_cast<std::uint8_t>(shift);
  parallel_for(panels, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(width));
    for (std::int64_t panel = begin; panel < end; ++panel) {
      auto* out = reinterpret_cast<std::uint32_t*>(packed.buffer_.data()) + panel * quads * width;
      const std::int64_t first = panel * width;
      const std::int64_t columns = std::min<std::int64_t>(width, n - first);
      std::fill(sums.begin(), sums.end(), 0u);
      for (std::int64_t quad = 0; quad < quads; ++quad, out += width) {
        const std::uint8_t* row = source + quad * 4 * matrix.row_stride + first * matrix.col_stride;
        const std::int64_t rows = std::min<std::int64_t>(4, k - quad * 4);
        if (columns == width && rows == 4 && matrix.col_stride == 1) {
          pack_quad(row, matrix.row_stride, width, flip, out, sums.data());
          continue;
        }
        for (std::int64_t c = 0; c < width; ++c) {
          out[c] = 0;
          for (std::int64_t l = 0; l < (c < columns ? rows : 0); ++l) {
            const auto byte = static_cast<std::uint8_t>(
                row[l * matrix.row_stride + c * matrix.col_stride] ^ flip);
            out[c] |= static_cast<std::uint32_t>(byte) << (8 * l);
            sums[static_cast<std::size_t>(c)] += extended(byte);
          }
        }
      }
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto zeros_sum = static_cast<std::uint32_t>(k * shifted_zeros[first + c]);
        adjust[first + c] =
            static_cast<std::int32_t>(sums[static_cast<std::size_t>(c)] - zeros_sum);
      }
      std::fill(adjust + first + columns, adjust + first + width, 0);
    }
  });
  return packed;
}

// Keeps PackedBytes' insides out of other files.
struct MatmulInt8Access {
  static void run(const PackedBytes& w, const MatmulInt8Args& args) {
    const int width = matmul_panel_width();
    if (w.panel_ != width) {
      throw std::logic_error("weights were packed for another instruction set");
    }
    const std::int64_t panels = (w.n() + width - 1) / width;
    const auto multiplies = static_cast<double>(args.rows) * static_cast<double>(w.n() * w.k());
    const double nanoseconds = std::max(multiplies / 200, static_cast<double>(w.bytes()) / 25) + 1;
    ByteShare whole;
    whole.args = &args;
    whole.panels = w.buffer_.data();
    whole.columns = w.columns_.as<std::int32_t>();
    whole.padded_n = panels * width;
    whole.k = w.k();
    whole.n = w.n();
    whole.has_zeros = w.has_zeros_;
    run_regions(cut_product(args.rows, panels, nanoseconds), [&](const MatmulRegion& region) {
      ByteShare share = whole;
      share.row_begin = region.row_begin;
      share.row_end = region.row_end;
      share.panel_begin = region.panel_begin;
      share.panel_end = region.panel_end;
      HWY_DYNAMIC_DISPATCH(matmul_int8_share)(share);
    });
  }
};

void matmul_int8(const PackedBytes& weights, const MatmulInt8Args& args) {
  if (args.rows > 0 && weights.n() > 0) MatmulInt8Access::run(weights, args);
}

}  // namespace concord::cpu
#endif
