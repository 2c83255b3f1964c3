#include <algorithm>
#include <atomic>
#include <cstring>

#include "backends/cpu/kernels/matmul_int8.h"
#include "backends/cpu/kernels/matmul_int8_internal.h"
#include "backends/cpu/kernels/matmul_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/matmul_int8_pack.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/matmul_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

// Sign-extended; sums are modulo 2^32.
std::uint32_t extended(std::uint8_t byte) {
  return static_cast<std::uint32_t>(static_cast<std::int8_t>(byte));
}

// Four whole rows of a panel: out[c] holds column c of each, lowest first. Plain loops: the
// compiler makes vectors of them.
void pack_quad(const std::uint8_t* rows, std::int64_t stride, std::uint8_t flip, std::uint32_t* out,
               std::uint32_t* sums) {
  for (int c = 0; c < kPanel; ++c) {
    const auto b0 = static_cast<std::uint8_t>(rows[c] ^ flip);
    const auto b1 = static_cast<std::uint8_t>(rows[c + stride] ^ flip);
    const auto b2 = static_cast<std::uint8_t>(rows[c + 2 * stride] ^ flip);
    const auto b3 = static_cast<std::uint8_t>(rows[c + 3 * stride] ^ flip);
    out[c] = b0 | static_cast<std::uint32_t>(b1) << 8 | static_cast<std::uint32_t>(b2) << 16 |
             static_cast<std::uint32_t>(b3) << 24;
    sums[c] += extended(b0) + extended(b1) + extended(b2) + extended(b3);
  }
}

// Four rows of columns that are contiguous each.
void pack_quad_of_columns(const std::uint8_t* row, std::int64_t stride, std::int64_t columns,
                          std::uint8_t flip, std::uint32_t* out, std::uint32_t* sums) {
  const std::uint32_t flips = flip * 0x01010101u;
  for (std::int64_t c = 0; c < columns; ++c) {
    std::uint32_t word = 0;
    std::memcpy(&word, row + c * stride, 4);
    word ^= flips;
    out[c] = word;
    for (int l = 0; l < 4; ++l) sums[c] += extended(static_cast<std::uint8_t>(word >> (8 * l)));
  }
}

}  // namespace

bool pack_byte_panel_target(const BytePacking& packing, std::int64_t first, std::byte* values,
                            std::int32_t* adjust, std::int32_t* shifted) {
  const ByteMatrix& matrix = packing.matrix;
  const std::int64_t k = matrix.rows;
  const std::int64_t columns = std::min<std::int64_t>(kPanel, matrix.cols - first);
  const std::int64_t quads = (k + 3) / 4;
  // Unsigned values are shifted to be signed, and their zero points with them.
  const int shift = matrix.is_signed ? 0 : 128;
  const auto flip = static_cast<std::uint8_t>(shift);
  bool any = false;
  for (std::int64_t c = 0; c < kPanel; ++c) {
    const std::size_t at = packing.zeros.size() == 1 ? 0 : static_cast<std::size_t>(first + c);
    const std::int32_t zero = c >= columns || packing.zeros.empty() ? 0 : packing.zeros[at];
    shifted[c] = c < columns ? zero - shift : 0;
    any = any || shifted[c] != 0;
  }
  std::uint32_t sums[kPanel] = {};
  auto* out = reinterpret_cast<std::uint32_t*>(values);
  const auto* source = static_cast<const std::uint8_t*>(matrix.data) + first * matrix.col_stride;
  for (std::int64_t quad = 0; quad < quads; ++quad, out += kPanel) {
    const std::uint8_t* row = source + quad * 4 * matrix.row_stride;
    const std::int64_t rows = std::min<std::int64_t>(4, k - quad * 4);
    if (columns == kPanel && rows == 4 && matrix.col_stride == 1) {
      pack_quad(row, matrix.row_stride, flip, out, sums);
      continue;
    }
    std::fill_n(out, kPanel, 0u);
    if (rows == 4 && matrix.row_stride == 1) {
      pack_quad_of_columns(row, matrix.col_stride, columns, flip, out, sums);
      continue;
    }
    for (std::int64_t l = 0; l < rows; ++l) {
      const std::uint8_t* from = row + l * matrix.row_stride;
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto byte = static_cast<std::uint8_t>(from[c * matrix.col_stride] ^ flip);
        out[c] |= static_cast<std::uint32_t>(byte) << (8 * l);
        sums[c] += extended(byte);
      }
    }
  }
  for (std::int64_t c = 0; c < kPanel; ++c) {
    const auto zeros_sum = static_cast<std::uint32_t>(k * shifted[c]);
    adjust[c] = static_cast<std::int32_t>(sums[c] - zeros_sum);
  }
  return any;
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(pack_byte_panel_target);

bool pack_byte_panel(const BytePacking& packing, std::int64_t first, std::byte* values,
                     std::int32_t* adjust, std::int32_t* shifted) {
  return HWY_DYNAMIC_DISPATCH(pack_byte_panel_target)(packing, first, values, adjust, shifted);
}

PackedBytes PackedBytes::pack(const ByteMatrix& matrix, std::span<const std::int32_t> zeros) {
  PackedBytes packed;
  packed.k_ = matrix.rows;
  packed.n_ = matrix.cols;
  packed.panel_ = matmul_panel_width();
  const int width = packed.panel_;
  const std::int64_t panels = (packed.n_ + width - 1) / width;
  const std::int64_t panel_bytes = (packed.k_ + 3) / 4 * width * 4;
  packed.buffer_ = AlignedBuffer(static_cast<std::size_t>(panels * panel_bytes));
  packed.columns_ = AlignedBuffer(static_cast<std::size_t>(2 * panels * width) * 4);
  auto* adjust = packed.columns_.as<std::int32_t>();
  std::atomic<bool> any = false;
  parallel_for(panels, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel) {
      const std::int64_t first = panel * width;
      if (pack_byte_panel({matrix, zeros}, first, packed.buffer_.data() + panel * panel_bytes,
                          adjust + first, adjust + panels * width + first)) {
        any = true;
      }
    }
  });
  packed.has_zeros_ = any;
  return packed;
}

void matmul_int8_batched(const BatchedMatmulInt8Args& args) {
  std::int64_t batches = 1;
  for (int i = 0; i < args.batch_rank; ++i) batches *= args.batch[i];
  const std::int64_t m = args.product.rows;
  const std::int64_t k = args.b.rows;
  const std::int64_t n = args.b.cols;
  if (batches * m * n == 0) return;
  const bool scaled = args.product.scales != nullptr;
  // Scaled sums are those of the integers themselves: as many as 32 bits hold whatever they are.
  constexpr std::int64_t kMostTerms = 33024;
  const std::int64_t depth = std::max<std::int64_t>(1, scaled ? std::min(k, kMostTerms) : k);
  const int width = matmul_panel_width();
  const std::int64_t panels = (n + width - 1) / width;
  const std::int64_t panel_bytes = (depth + 3) / 4 * width * 4;
  const double nanoseconds = static_cast<double>(m * width) * static_cast<double>(k) / 200 +
                             static_cast<double>(panel_bytes) / 10 + 50;
  std::int32_t zero = 0;
  if (args.b_zero != nullptr) {
    const auto byte = static_cast<std::uint8_t>(*args.b_zero);
    zero = args.b.is_signed ? static_cast<std::int8_t>(byte) : byte;
  }
  parallel_for(
      batches * panels, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
      [&](std::int64_t begin, std::int64_t end) {
        std::byte* values = thread_scratch(static_cast<std::size_t>(panel_bytes + 8 * width), 3);
        auto* columns = reinterpret_cast<std::int32_t*>(values + panel_bytes);
        for (std::int64_t item = begin; item < end; ++item) {
          const std::int64_t first = item % panels * width;
          std::int64_t index = item / panels;
          std::int64_t a = 0;
          std::int64_t b = 0;
          std::int64_t c = first;
          for (int i = args.batch_rank - 1; i >= 0; --i) {
            a += index % args.batch[i] * args.a_batch_stride[i];
            b += index % args.batch[i] * args.b_batch_stride[i];
            c += index % args.batch[i] * args.c_batch_stride[i];
            index /= args.batch[i];
          }
          MatmulInt8Args product = args.product;
          product.a += a;
          product.c = scaled ? static_cast<void*>(static_cast<float*>(product.c) + c)
                             : static_cast<void*>(static_cast<std::int32_t*>(product.c) + c);
          BytePacking packing{args.b, {&zero, 1}};
          packing.matrix.data = static_cast<const std::byte*>(args.b.data) + b;
          ByteShare share;
          share.args = &product;
          share.panels = values;
          share.columns = columns;
          share.padded_n = width;
          share.n = std::min<std::int64_t>(width, n - first);
          share.row_end = m;
          share.panel_end = 1;
          for (std::int64_t from = 0; from < k || from == 0; from += depth) {
            packing.matrix.rows = share.k = std::min(depth, k - from);
            share.has_zeros = pack_byte_panel(packing, first, values, columns, columns + width);
            run_byte_share(share);
            product.a += depth;
            packing.matrix.data = static_cast<const std::byte*>(packing.matrix.data) +
                                  depth * packing.matrix.row_stride;
            product.epilogue.residual = static_cast<const float*>(product.c);
            product.epilogue.residual_stride = product.ldc;
          }
        }
      });
}

}  // namespace concord::cpu
#endif
