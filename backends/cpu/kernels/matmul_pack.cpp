#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "backends/cpu/kernels/cast_internal.h"
#include "backends/cpu/kernels/copy_internal.h"
#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {

namespace {

// The tile of f32 between source and storage, small enough for L1 with the widest panel.
constexpr std::int64_t kTileRows = 32;
constexpr int kWidest = 64;
// Weights this large are not in cache any more when they are used first.
constexpr std::int64_t kStreamBytes = 1 << 20;

// tile[r][c] = matrix[k0 + r][n0 + c] for r < rows, c < columns, 0 in the columns up to width.
void load_tile(const MatrixView& m, std::int64_t k0, std::int64_t rows, std::int64_t n0,
               int columns, int width, float* tile) {
  const auto size = static_cast<std::int64_t>(element_size(m.type));
  const auto* base =
      static_cast<const std::byte*>(m.data) + (k0 * m.row_stride + n0 * m.col_stride) * size;
  if (m.col_stride != 1 && m.row_stride == 1) {
    if (m.type == Element::f32) {
      transpose_words(reinterpret_cast<const std::uint32_t*>(base), m.col_stride, columns, rows,
                      reinterpret_cast<std::uint32_t*>(tile), width);
    } else {
      alignas(64) float lines[kWidest * kTileRows];
      for (int c = 0; c < columns; ++c) {
        convert_serial(m.type, base + c * m.col_stride * size, Element::f32, lines + c * kTileRows,
                       rows);
      }
      transpose_words(reinterpret_cast<const std::uint32_t*>(lines), kTileRows, columns, rows,
                      reinterpret_cast<std::uint32_t*>(tile), width);
    }
  } else {
    for (std::int64_t r = 0; r < rows; ++r) {
      load_floats(m.type, base + r * m.row_stride * size, m.col_stride, tile + r * width, columns);
    }
  }
  if (columns == width) return;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::fill(tile + r * width + columns, tile + (r + 1) * width, 0.0f);
  }
}

void store_bf16_pairs(const float* tile, std::int64_t rows, int width, std::byte* panel) {
  auto* out = reinterpret_cast<BFloat16*>(panel);
  alignas(64) BFloat16 even[kWidest];
  alignas(64) BFloat16 odd[kWidest];
  for (std::int64_t r = 0; r < rows; r += 2) {
    convert_serial(Element::f32, tile + r * width, Element::bf16, even, width);
    if (r + 1 < rows) {
      convert_serial(Element::f32, tile + (r + 1) * width, Element::bf16, odd, width);
    } else {
      std::fill(odd, odd + kWidest, BFloat16{0});
    }
    for (int c = 0; c < width; ++c) {
      out[r * width + 2 * c] = even[c];
      out[r * width + 2 * c + 1] = odd[c];
    }
  }
}

}  // namespace

void pack_panel(const MatrixView& matrix, std::int64_t k0, std::int64_t rows, std::int64_t n0,
                int columns, int width, Element storage, std::byte* panel) {
  const auto size = static_cast<std::int64_t>(element_size(storage));
  alignas(64) float tile[kTileRows * kWidest];
  for (std::int64_t r = 0; r < rows; r += kTileRows) {
    const std::int64_t part = std::min(kTileRows, rows - r);
    std::byte* out = panel + r * width * size;
    if (storage == Element::f32) {
      load_tile(matrix, k0 + r, part, n0, columns, width, reinterpret_cast<float*>(out));
      continue;
    }
    load_tile(matrix, k0 + r, part, n0, columns, width, tile);
    if (storage == Element::f16) {
      convert_serial(Element::f32, tile, Element::f16, out, part * width);
    } else {
      store_bf16_pairs(tile, part, width, out);
    }
  }
}

PackedWeights PackedWeights::pack(std::span<const MatrixView> matrices, Element storage) {
  if (matrices.empty()) throw std::invalid_argument("no matrix to pack");
  if (storage != Element::f32 && storage != Element::f16 && storage != Element::bf16) {
    throw std::invalid_argument("weights are packed as f32, f16 or bf16");
  }
  PackedWeights packed;
  packed.k_ = matrices[0].rows;
  packed.storage_ = storage;
  packed.panel_ = matmul_panel_width();
  for (const MatrixView& matrix : matrices) {
    if (matrix.rows != packed.k_) {
      throw std::invalid_argument("matrices packed side by side differ in rows");
    }
    packed.n_ += matrix.cols;
  }
  const int width = packed.panel_;
  const std::int64_t k = packed.k_;
  const std::int64_t panels = (packed.n_ + width - 1) / width;
  const std::int64_t bytes = panel_bytes(k, storage, width);
  packed.buffer_ = AlignedBuffer(static_cast<std::size_t>(panels * bytes));
  std::byte* out = packed.buffer_.data();
  const std::int64_t row_bytes = width * static_cast<std::int64_t>(element_size(storage));

  // Groups of panels by blocks of rows: source rows are read in runs of whole pages.
  constexpr std::int64_t kGroup = 8;
  const bool past_caches = matrices.size() == 1 && storage == Element::f32 &&
                           matrices[0].type == Element::f32 && matrices[0].col_stride == 1 &&
                           panels * bytes >= kStreamBytes;
  const std::int64_t groups = (panels + kGroup - 1) / kGroup;
  const std::int64_t depth = (k + kTileRows - 1) / kTileRows;
  const std::int64_t grain = std::max<std::int64_t>(1, 65536 / (kTileRows * width * kGroup));
  parallel_for(groups * depth, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t k0 = item % depth * kTileRows;
      const std::int64_t rows = std::min(kTileRows, k - k0);
      const std::int64_t first = item / depth * kGroup;
      const std::int64_t count = std::min(kGroup, panels - first);
      if (past_caches && (first + count) * width <= packed.n_) {
        stream_panels(static_cast<const float*>(matrices[0].data) + k0 * matrices[0].row_stride +
                          first * width,
                      matrices[0].row_stride, rows, count, width,
                      reinterpret_cast<float*>(out + first * bytes + k0 * row_bytes), bytes / 4);
        continue;
      }
      for (std::int64_t panel = first; panel < std::min(panels, first + kGroup); ++panel) {
        std::byte* target = out + panel * bytes + k0 * row_bytes;
        std::int64_t n0 = panel * width;
        // The matrix that this panel begins in; a panel that straddles matrices is put together.
        std::size_t m = 0;
        while (n0 >= matrices[m].cols) n0 -= matrices[m++].cols;
        const auto columns =
            static_cast<int>(std::min<std::int64_t>(width, packed.n_ - panel * width));
        if (n0 + columns <= matrices[m].cols) {
          pack_panel(matrices[m], k0, rows, n0, columns, width, storage, target);
          continue;
        }
        alignas(64) float tile[kTileRows * kWidest];
        for (int done = 0; done < columns;) {
          while (n0 >= matrices[m].cols) {
            n0 -= matrices[m++].cols;
          }
          const auto part =
              static_cast<int>(std::min<std::int64_t>(columns - done, matrices[m].cols - n0));
          alignas(64) float piece[kTileRows * kWidest];
          load_tile(matrices[m], k0, rows, n0, part, width, piece);
          for (std::int64_t r = 0; r < rows; ++r) {
            std::copy_n(piece + r * width, part, tile + r * width + done);
          }
          done += part;
          n0 += part;
        }
        const MatrixView whole{tile, Element::f32, rows, columns, width, 1};
        pack_panel(whole, 0, rows, 0, columns, width, storage, target);
      }
    }
  });
  return packed;
}

void PackedWeights::gather_columns(std::span<const std::int64_t> indices, float* out) const {
  const std::int64_t bytes = panel_bytes(k_, storage_, panel_);
  const auto count = static_cast<std::int64_t>(indices.size());
  parallel_for(count, std::max<std::int64_t>(1, 4000 / (k_ + 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t column = indices[static_cast<std::size_t>(i)];
                   const std::byte* panel = buffer_.data() + column / panel_ * bytes;
                   const std::int64_t lane = column % panel_;
                   float* row = out + i * k_;
                   if (storage_ == Element::bf16) {
                     const auto* pairs = reinterpret_cast<const BFloat16*>(panel);
                     for (std::int64_t k = 0; k < k_; ++k) {
                       row[k] = to_float(pairs[(k / 2 * panel_ + lane) * 2 + k % 2]);
                     }
                   } else {
                     const auto size = static_cast<std::int64_t>(element_size(storage_));
                     load_floats(storage_, panel + lane * size, panel_, row, k_);
                   }
                 }
               });
}

}  // namespace concord::cpu
