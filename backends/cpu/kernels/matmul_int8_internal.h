#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/kernels/matmul_int8.h"

namespace concord::cpu {

// What PackedBytes::pack and products of two operands of the run pack alike.
struct BytePacking {
  ByteMatrix matrix;
  std::span<const std::int32_t> zeros;  // none, one for all columns, or one per column
};
// Packs the matrix' panel of these columns (`first` on, as many as a panel has or the matrix
// leaves) as matmul_int8_kernels-inl.h wants it: values holds [k / 4][width][4]; adjust gets Σ w −
// k·zero and shifted the zero points, both of width columns. Returns whether any zero point is not
// 0.
bool pack_byte_panel(const BytePacking& packing, std::int64_t first, std::byte* values,
                     std::int32_t* adjust, std::int32_t* shifted);

// One thread's share: rows [row_begin, row_end), panels [panel_begin, panel_end).
struct ByteShare {
  const MatmulInt8Args* args = nullptr;
  const std::byte* panels = nullptr;
  const std::int32_t* columns = nullptr;  // i32 [2][padded_n], see PackedBytes
  std::int64_t padded_n = 0;
  std::int64_t k = 0, n = 0;
  bool has_zeros = false;
  std::int64_t row_begin = 0, row_end = 0, panel_begin = 0, panel_end = 0;
};
void run_byte_share(const ByteShare& share);
// All of a product, but for its rows and panels. args must outlive it. Throws std::logic_error if
// the weights were packed for another instruction set.
ByteShare whole_share(const PackedBytes& weights, const MatmulInt8Args& args);

}  // namespace concord::cpu
