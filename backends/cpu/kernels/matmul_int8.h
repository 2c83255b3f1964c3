// Matrix products of 8-bit integers. Sums are 32-bit integers and exact (modulo 2^32, as ONNX's
// MatMulInteger has them), so that no instruction set differs from another by a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/kernels/memory.h"

namespace concord::cpu {

// A matrix of bytes in memory; strides in elements.
struct ByteMatrix {
  const void* data = nullptr;
  bool is_signed = false;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;
};

// Weights w of shape [k, n] with their zero points, packed once, for all numbers of rows.
// Immutable, may be used by many threads at once.
class PackedBytes {
 public:
  PackedBytes() = default;

  // zeros: none, one for all columns, or one per column, in the values' own range.
  static PackedBytes pack(const ByteMatrix& matrix, std::span<const std::int32_t> zeros);

  std::int64_t k() const { return k_; }
  std::int64_t n() const { return n_; }
  std::size_t bytes() const { return buffer_.size() + columns_.size(); }

 private:
  friend struct MatmulInt8Access;
  AlignedBuffer buffer_;   // panels: [k / 4][panel_ columns][4], signed
  AlignedBuffer columns_;  // i32 [2][n up to whole panels]: Σ w − k·zero, and zero
  std::int64_t k_ = 0;
  std::int64_t n_ = 0;
  int panel_ = 0;  // columns in a panel
  bool has_zeros_ = false;
};

// s [rows, n] = Σ_k (a − a_zero) · (w − w_zero), a [rows, k] bytes with contiguous rows.
// Without scales c is s, i32. With scales c is f32:
//   c = activation(scale · s + bias) · multiplier + residual   (epilogue.scale must be 1)
struct MatmulInt8Args {
  std::int64_t rows = 0;
  const std::byte* a = nullptr;
  bool a_signed = false;
  std::int64_t lda = 0;
  bool a_whole_quads = false;          // rows may be read up to a multiple of four bytes
  const std::byte* a_zeros = nullptr;  // of a's type; null: zero
  std::int64_t a_zero_stride = 0;      // 1: one per row
  const float* scales = nullptr;
  std::int64_t scale_stride = 0;  // 1: one per column
  void* c = nullptr;
  std::int64_t ldc = 0;  // elements
  Epilogue epilogue{};
};
void matmul_int8(const PackedBytes& weights, const MatmulInt8Args& args);

// c[i] [m, n] = the product above of a[i] [m, k] and b[i] [k, n] for every i of the batch, b not
// packed before. Strides in elements; a's and c's columns are contiguous. Batch dimensions (at most
// 6) broadcast by strides of 0. With a scale no sum wraps, however large k is.
struct BatchedMatmulInt8Args {
  MatmulInt8Args product;  // rows is m; one zero point and one scale, no epilogue
  ByteMatrix b;
  const std::byte* b_zero = nullptr;  // of b's type; null: zero
  int batch_rank = 0;
  std::int64_t batch[6] = {};
  std::int64_t a_batch_stride[6] = {}, b_batch_stride[6] = {}, c_batch_stride[6] = {};
};
void matmul_int8_batched(const BatchedMatmulInt8Args& args);

}  // namespace concord::cpu
