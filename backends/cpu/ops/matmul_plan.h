#pragma once

#include <memory>
#include <optional>

#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/onednn_product.h"
#include "backends/cpu/ops/epilogue.h"
#include "backends/cpu/planner.h"

namespace concord::cpu {

// act(alpha · op(a) · op(b) + bias) + residual, where a is input 0. Bias and residual broadcast to
// the result; their input numbers are −1 where the operator has none.
struct ProductForm {
  bool trans_a = false, trans_b = false;
  float alpha = 1;
  ActivationSpec activation;
  int bias = -1, residual = -1;
};

// The epilogue as far as the kernel takes it; where it does not take all, emit_afterwards adds a
// pass over the result.
struct PlannedEpilogue {
  Ref bias, residual;
  std::int64_t residual_stride = 0;
  Activation activation = Activation::none;
  bool all = true;
};
PlannedEpilogue plan_epilogue(Planner& p, const ProductForm& form, const Dims& y);
void emit_afterwards(Planner& p, const ProductForm& form, const Dims& y, Ref sums, bool with_bias);

// Rows of an operand: [rows, k] with contiguous rows, at a distance of `lead` elements. All axes
// but the last are merged, without a copy where the view allows it; f16 is converted to f32.
struct RowsView {
  Ref at;
  Element type = Element::f32;
  std::int64_t lead = 0;
};
RowsView rows_of(Planner& p, int input);
// A matrix of every batch of which rows or columns are contiguous, seen by a kernel.
View matrix_view(Planner& p, int input);
MatrixView kernel_view(const View& view, bool trans);

// The product with weights packed before, [k, n].
void plan_packed_product(Planner& p, const ProductForm& form,
                         const std::shared_ptr<const PackedWeights>& weights);
void plan_library_product(Planner& p, const ProductForm& form,
                          const std::shared_ptr<const OnednnProduct>& weights);
// The product with several matrices side by side, of as many outputs (see Unit::side_outputs).
void plan_side_by_side_product(Planner& p, const std::shared_ptr<const PackedWeights>& weights,
                               const float* bias, std::span<const std::int64_t> columns);
// The product with input 1, batch by batch.
void plan_batched_product(Planner& p, const ProductForm& form, bool round_to_bf16);

}  // namespace concord::cpu
