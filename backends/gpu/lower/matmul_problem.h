#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/gpu/lowering.h"

namespace concord::gpu {

// c[z] = act(alpha·a[z] b[z] + bias) + residual[z] over a batch of strided matrices. Strides in
// elements; a column stride other than 1 is a transposed operand.
struct MatmulProblem {
  Operand a, b, c;
  Operand bias;      // [n], or [m] with bias_per_row; undefined for none
  Operand residual;  // lies as c does; undefined for none
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t a_row = 0, a_column = 1;
  std::int64_t b_row = 0, b_column = 1;
  std::int64_t c_row = 0;
  Shape batch;                      // extents
  Shape a_batch, b_batch, c_batch;  // strides, 0 where broadcast
  bool bias_per_row = false;
  std::int32_t activation = 0;  // of lib/activation.slang
  float alpha = 1.0F;
};

// The number that kernels know a function by; nullopt if matmul kernels cannot apply it.
std::optional<std::int32_t> fused_activation(std::string_view function);

std::optional<std::string> why_no_matmul(const Query& query, DataType storage);

// What products are made of where they are left to kernels for matrix units: f16 for f16, bf16 for
// f32 with precision=bf16; nullopt where they are not.
std::optional<DataType> coop_operands(const NodeLowering& node, DataType storage);

// By the vendor's library; false where there is none, or none that takes the problem.
bool emit_library_matmul(NodeLowering& node, const MatmulProblem& problem);

// Dispatches the kernel that fits the device and the problem.
void emit_matmul(NodeLowering& node, const MatmulProblem& problem);

}  // namespace concord::gpu
