// Shared by the parts of the matrix product.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {

// Columns of a panel under the current instruction set.
int matmul_panel_width();

// Whether bf16 operands are multiplied as pairs (layout is the same in either case).
inline std::int64_t padded_k(std::int64_t k, Element storage) {
  return storage == Element::bf16 ? (k + 1) / 2 * 2 : k;
}
inline std::int64_t panel_bytes(std::int64_t k, Element storage, int width) {
  return padded_k(k, storage) * width * static_cast<std::int64_t>(element_size(storage));
}

// Writes rows [k0, k0 + rows) of the matrix' columns [n0, n0 + columns) as part of a panel of the
// given width in the layout of matmul_kernels-inl.h; columns beyond are zero. k0 and, unless the
// matrix ends, rows are even for bf16. panel points at row k0's place.
void pack_panel(const MatrixView& matrix, std::int64_t k0, std::int64_t rows, std::int64_t n0,
                int columns, int width, Element storage, std::byte* panel);

// The packed copy: panel by panel, k by k. Throws std::logic_error if it was packed for another
// instruction set.
const std::byte* packed_panels(const PackedWeights& weights);

// One thread's share: rows [row_begin, row_end), panels [panel_begin, panel_end).
struct MatmulShare {
  const MatmulArgs* args;
  const std::byte* panels;
  std::int64_t k, n;
  Element storage;
  std::int64_t row_begin, row_end, panel_begin, panel_end;
};

// Rows [row_begin, row_end) and panels [panel_begin, panel_end) of a product.
struct MatmulRegion {
  std::int64_t row_begin, row_end, panel_begin, panel_end;
};

// How a product is cut into regions.
struct MatmulGrid {
  std::int64_t rows, panels;              // of the product
  std::int64_t row_pieces, panel_pieces;  // at most current_threads() together

  MatmulRegion region(std::int64_t task) const;
};

// For as many threads as the product's time on one is worth.
MatmulGrid cut_product(std::int64_t rows, std::int64_t panels, double nanoseconds);

template <typename Run>
void run_regions(const MatmulGrid& grid, Run&& run) {
  parallel_tasks(static_cast<int>(grid.row_pieces * grid.panel_pieces), [&](int task) {
    const MatmulRegion region = grid.region(task);
    if (region.row_begin < region.row_end && region.panel_begin < region.panel_end) run(region);
  });
}

}  // namespace concord::cpu
