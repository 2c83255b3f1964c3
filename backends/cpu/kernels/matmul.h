// Matrix products. Own kernels: on Zen 4 they reach what oneDNN 3.2 reaches, from one packed
// layout that serves every number of rows, down to a single one at memory bandwidth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/number.h"

namespace concord::cpu {

// y = f(x). gelu_erf(x) = x/2 (1 + erf(x/√2)); gelu_tanh is its approximation by
// tanh(√(2/π)(x + 0.044715 x³)); silu(x) = x sigmoid(x); quick_gelu(x) = x sigmoid(1.702 x).
enum class Activation : std::uint8_t {
  none,
  relu,
  gelu_erf,
  gelu_tanh,
  quick_gelu,
  silu,
  tanh,
  sigmoid
};

// A matrix in memory. Strides in elements; either may be the long one, so that a transposed matrix
// is a view of the stored one.
struct MatrixView {
  const void* data = nullptr;
  Element type = Element::f32;  // f32, f16 or bf16
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;
};

// What is done to the sums before they are written:
//   c = activation(scale · (a·w) + bias) · multiplier + residual
// with rounding only where c is stored.
struct Epilogue {
  float scale = 1.0f;
  const float* bias = nullptr;  // [n]
  Activation activation = Activation::none;
  // Row m, column n of the multiplier (the other half of a gated unit) and of the residual lie at
  // [m · stride + n]; f32, may be the output itself. A stride of 0 repeats one row.
  const float* multiplier = nullptr;
  std::int64_t multiplier_stride = 0;
  const float* residual = nullptr;
  std::int64_t residual_stride = 0;
};

// Weights of shape [k, n], converted and packed once, for all numbers of rows. Immutable, may be
// used by many threads at once.
class PackedWeights {
 public:
  PackedWeights() = default;

  // storage: f32, bf16 (products of bf16 operands, sums in f32: activations are rounded to bf16),
  // or f16 (weights kept as f16, converted when used; activations stay f32).
  // The matrices stand side by side: all have the same rows (k), and n is the sum of their columns
  // (Q, K and V as one product). The packed copy is written by the threads of the ThreadScope.
  static PackedWeights pack(std::span<const MatrixView> matrices, Element storage);
  static PackedWeights pack(const MatrixView& matrix, Element storage) {
    return pack(std::span(&matrix, 1), storage);
  }

  std::int64_t k() const { return k_; }
  std::int64_t n() const { return n_; }
  Element storage() const { return storage_; }
  std::size_t bytes() const { return buffer_.size(); }

  // out[i, :] = column indices[i] of the weights: an embedding tied to the output projection is
  // read from the packed copy. Indices must be in [0, n).
  void gather_columns(std::span<const std::int64_t> indices, float* out) const;

 private:
  friend struct MatmulAccess;
  AlignedBuffer buffer_;
  std::int64_t k_ = 0;
  std::int64_t n_ = 0;
  Element storage_ = Element::f32;
  int panel_ = 0;  // columns in a panel
};

// c [rows, n] = epilogue(a [rows, k] · weights). a and c are f32 or bf16 and must not overlap, rows
// contiguous, lda and ldc in elements.
struct MatmulArgs {
  std::int64_t rows = 0;
  const void* a = nullptr;
  Element a_type = Element::f32;
  std::int64_t lda = 0;
  void* c = nullptr;
  Element c_type = Element::f32;
  std::int64_t ldc = 0;
  Epilogue epilogue{};
};
void matmul(const PackedWeights& weights, const MatmulArgs& args);

// c[i] = scale · a[i] [m, k] · b[i] [k, n] (+ bias [n]) for every i of the batch, b not packed
// before. Strides in elements, any of the two inner ones of a and b may be the long one; c's
// columns are contiguous. Batch dimensions (at most 6) broadcast by strides of 0.
// Types: all f32, or a, b in {f32, f16, bf16}; sums in f32. With round_to_bf16 the operands are
// rounded to bf16 first and multiplied as such.
struct BatchedMatmulArgs {
  std::int64_t m = 0, n = 0, k = 0;
  MatrixView a, b;
  void* c = nullptr;
  Element c_type = Element::f32;
  std::int64_t ldc = 0;
  int batch_rank = 0;
  std::int64_t batch[6] = {};
  std::int64_t a_batch_stride[6] = {}, b_batch_stride[6] = {}, c_batch_stride[6] = {};
  float scale = 1.0f;
  const float* bias = nullptr;
  bool round_to_bf16 = false;
};
void matmul_batched(const BatchedMatmulArgs& args);

}  // namespace concord::cpu
