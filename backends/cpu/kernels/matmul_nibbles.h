// Matrix products with weights of 4 bits, a scale for every block of a column (ONNX's blocked
// DequantizeLinear and com.microsoft's MatMulNBits). The weights are streamed as 4 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/kernels/memory.h"

namespace concord::cpu {

// w[l, j] = (value − zero) · scale, values and zero points from 0 to 15. Element (column j, row l)
// is read through functions of the source's own layout.
struct NibbleMatrix {
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::int64_t block = 0;  // rows that share a scale, a multiple of 8
  // Nibbles of rows [l, l + 8) of column j, lowest first; those beyond k are not used.
  std::uint32_t (*octet)(const void* source, std::int64_t j, std::int64_t l) = nullptr;
  float (*scale)(const void* source, std::int64_t j, std::int64_t block) = nullptr;
  std::uint8_t (*zero)(const void* source, std::int64_t j, std::int64_t block) = nullptr;
  const void* source = nullptr;
};

// Packed once, for all numbers of rows. Immutable, may be used by many threads at once.
class PackedNibbles {
 public:
  PackedNibbles() = default;
  static PackedNibbles pack(const NibbleMatrix& matrix);

  std::int64_t k() const { return k_; }
  std::int64_t n() const { return n_; }
  std::int64_t block() const { return block_; }
  std::size_t bytes() const { return values_.size() + scales_.size() + zeros_.size(); }

 private:
  friend struct MatmulNibblesAccess;
  // Word c of an octet holds column c: byte i has value l + i in its low half, l + 4 + i in its
  // high.
  AlignedBuffer values_;  // u32 [panels][k / 8][panel_]
  AlignedBuffer scales_;  // f32 [panels][blocks][panel_]
  AlignedBuffer zeros_;   // u8 [panels][blocks][panel_]; empty: all are zero_
  std::int64_t k_ = 0;
  std::int64_t n_ = 0;
  std::int64_t block_ = 0;
  std::uint8_t zero_ = 0;
  int panel_ = 0;  // columns in a panel
};

// The left operand in 8 bits: every block of a row has a scale of its own, its largest magnitude /
// 127.
struct QuantisedRows {
  std::int8_t* values = nullptr;  // [rows][stride], zeros from k on
  float* scales = nullptr;        // [rows][blocks]
  std::int32_t* sums = nullptr;   // [rows][blocks], of the values
  std::int64_t stride = 0;        // k in whole blocks
  std::int64_t blocks = 0;

  // Lays the three out in one piece of memory, 64-byte aligned, of bytes(rows, k, block).
  static QuantisedRows in(std::byte* memory, std::int64_t rows, std::int64_t k, std::int64_t block);
  static std::int64_t bytes(std::int64_t rows, std::int64_t k, std::int64_t block);
};

// c as matmul() has it, a is f32. Without `quantised` the weights are expanded to f32 as they are
// used. With it, memory for the left operand, products are made of 8 and 4 bits and summed exactly
// within a block, where has_int8_dot() says that there are instructions for it and the block is a
// multiple of 16.
void matmul_nibbles(const PackedNibbles& weights, const MatmulArgs& args,
                    std::byte* quantised = nullptr);
bool can_quantise_rows(const PackedNibbles& weights);

}  // namespace concord::cpu
