#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/matmul_plain.h"
#include "backends/cpu/ops/matmul_plan.h"
#include "backends/cpu/ops/unary_f64.h"

namespace concord::cpu {
namespace {

constexpr int kBias = 2;
constexpr int kResidual = 3;

ProductForm form_of(const graph::Node& node) {
  ProductForm form;
  form.trans_a = node.attrs.integer("trans_a", 0) != 0;
  form.trans_b = node.attrs.integer("trans_b", 0) != 0;
  form.alpha = static_cast<float>(node.attrs.number("alpha", 1.0));
  form.activation = activation_of(node, "act_alpha", "act_beta");
  form.bias = kBias;
  form.residual = kResidual;
  return form;
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const DataType dtype = input_dtype(graph, node, 0);
  if (is_kernel_float(dtype)) return why_not_activation(form_of(node).activation);
  if (dtype == DataType::f64) {
    const ActivationSpec activation = form_of(node).activation;
    if (activation.present && !has_plain_f64(activation.fn)) {
      return "the activation " + std::string(to_string(activation.fn)) + " on float64 tensors";
    }
    return std::nullopt;
  }
  if (has_plain_matmul(dtype)) {
    if (node.has_input(kBias) || node.has_input(kResidual) || node.attrs.has("activation")) {
      return "a fused epilogue on " + type_reason(dtype);
    }
    return std::nullopt;
  }
  return type_reason(dtype);
}

// The matrix [k, n] of a constant operand, if all of it is one matrix.
std::optional<WeightMatrix> weight_matrix(Compiler& c, bool trans) {
  const Tensor* b = c.constant(1);
  if (b == nullptr || b->count() == 0) return std::nullopt;
  const Shape& shape = b->shape();
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
    if (shape[i] != 1) return std::nullopt;
  }
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t cols = shape[shape.size() - 1];
  WeightMatrix m;
  m.tensor = *b;
  m.rows = trans ? cols : rows;
  m.cols = trans ? rows : cols;
  m.row_stride = trans ? 1 : cols;
  m.col_stride = trans ? cols : 1;
  return m;
}

PlanFn prepare(Compiler& c) {
  const ProductForm form = form_of(c.node());
  const DataType dtype = c.dtype(0);
  if (!is_kernel_float(dtype)) return prepare_plain_matmul(c, form);
  if (const auto matrix = weight_matrix(c, form.trans_b)) {
    const Element storage = c.weight_storage(matrix->tensor.dtype());
    if (c.options().matmul == MatmulSource::library && form.alpha == 1 && storage != Element::f16) {
      auto weights = OnednnProduct::pack(view_of(*matrix), storage);
      c.add_weight_bytes(static_cast<std::int64_t>(weights->bytes()));
      c.keep(weights);
      return [form, weights](Planner& p) { plan_library_product(p, form, weights); };
    }
    auto weights = c.weights().pack({*matrix}, storage);
    c.keep(weights);
    return [form, weights](Planner& p) { plan_packed_product(p, form, weights); };
  }
  const bool to_bf16 = c.options().precision == Precision::bf16 || dtype == DataType::bf16;
  return [form, to_bf16](Planner& p) { plan_batched_product(p, form, to_bf16); };
}

}  // namespace

const Lowering cpu_matmul{.why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 3};

}  // namespace concord::cpu
