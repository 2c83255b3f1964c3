#include "backends/reference/oracle.h"

#include <array>

#include "backends/host/host.h"
#include "backends/reference/evaluate_graph.h"
#include "backends/reference/kernel.h"
#include "backends/reference/rounding.h"
#include "graph/error.h"
#include "graph/extent_rules.h"

namespace concord::reference {
namespace {

const Kernel& kernel_of(graph::OpKind op) {
  static constexpr std::array kKernels = {
#define CONCORD_OP(name) &reference_##name,
#include "graph/ops.def"
#undef CONCORD_OP
  };
  return *kKernels[static_cast<std::size_t>(op)];
}

// Operators whose first operand may be a large table of which little is used: it stays in its own
// type, and only what is taken from it becomes float64.
bool picks_from_first(graph::OpKind op) {
  switch (op) {
    case graph::OpKind::gather:
    case graph::OpKind::gather_elements:
    case graph::OpKind::gather_nd:
    case graph::OpKind::reshape:
    case graph::OpKind::shape_of:
    case graph::OpKind::slice:
    case graph::OpKind::transpose:
      return true;
    default:
      return false;
  }
}

// The graph may know less than the operands' ranks.
void check_operands(const graph::Node& node, std::span<const OracleValue> inputs) {
  std::vector<Tensor> tensors;
  for (const OracleValue& input : inputs) tensors.push_back(input.value);
  graph::check_extents(node, tensors);
}

}  // namespace

Tensor OracleValue::rounded() const {
  if (is_container(declared)) return narrowed_items(value, declared);
  if (!value.defined() || value.dtype() == declared || !is_float(declared)) return value;
  return narrowed(widened(value), declared);
}

OracleValue from_tensor(const Tensor& tensor) {
  OracleValue result;
  result.declared = tensor.dtype();
  result.value = is_float(tensor.dtype()) ? widened(tensor) : tensor;
  return result;
}

OracleValue view_of(const Tensor& tensor) {
  OracleValue result;
  result.declared = tensor.dtype();
  result.value = tensor;
  return result;
}

std::vector<OracleValue> evaluate(const graph::Graph& graph, const graph::Node& node,
                                  std::span<const OracleValue> inputs, const Bindings& bindings,
                                  const Numerics& numerics, const GraphOptions* options) {
  check_operands(node, inputs);
  std::vector<OracleValue> wide(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    Tensor& value = wide[i].value;
    if (!value.defined() || !is_float(value.dtype())) continue;
    if (i == 0 && picks_from_first(node.op)) continue;
    value = widened(value);
  }
  return kernel_of(node.op).run({graph, node, wide, bindings, numerics, options});
}

std::vector<OracleValue> evaluate(const graph::Graph& graph, const graph::Node& node,
                                  std::span<const OracleValue> inputs, const Bindings& bindings,
                                  const Numerics& numerics) {
  return evaluate(graph, node, inputs, bindings, numerics, nullptr);
}

std::vector<Tensor> fold(const graph::Graph& graph, const graph::Node& node,
                         std::span<const Tensor> inputs) {
  try {
    if (!host::why_unsupported(graph, node)) return host::run(graph, node, inputs, {});
    std::vector<OracleValue> values;
    for (const Tensor& tensor : inputs) values.push_back(view_of(tensor));
    std::vector<Tensor> results;
    for (const OracleValue& value : evaluate(graph, node, values, {})) {
      results.push_back(value.rounded());
    }
    return results;
  } catch (const Error&) {
    // Whatever is wrong with the values is reported by the run that needs them, if any does.
    return {};
  }
}

const Tensor& Call::input(std::size_t i) const {
  if (!has(i)) {
    throw Error(ErrorKind::failed,
                "internal: " + graph::describe(node) + " lacks operand " + std::to_string(i));
  }
  return inputs[i].value;
}

std::int64_t Call::extent(std::size_t i, std::size_t axis) const {
  const Shape& s = shape(i);
  if (axis >= s.size()) {
    throw Error(ErrorKind::invalid, "operand " + std::to_string(i) + " of shape " +
                                        to_string(std::span<const std::int64_t>(s)) +
                                        " has no axis " + std::to_string(axis));
  }
  return s[axis];
}

const double* Call::data(std::size_t i) const {
  if (!has(i)) return nullptr;
  return inputs[i].value.as<double>().data();
}

DataType Call::declared_output(std::size_t i) const {
  if (wants_output(i)) {
    const DataType dtype = graph.value(node.outputs[i]).dtype;
    if (dtype != DataType::undefined) return dtype;
  }
  return declared_input(0);
}

std::vector<Tensor> Call::tensors() const {
  std::vector<Tensor> result;
  for (const OracleValue& v : inputs) result.push_back(v.value);
  return result;
}

double Call::unit() const {
  // Steps that count in integers hand on float32.
  const double u = unit_roundoff(numerics.precision.accumulate);
  return u > 0 ? u : unit_roundoff(DataType::f32);
}

double Call::operand_rounding() const {
  double operand = unit_roundoff(numerics.precision.operand);
  if (numerics.precision.tf32) operand = std::max(operand, 0x1p-11);
  const double ratio = operand / unit();
  return ratio * ratio;
}

double Call::conversion(DataType declared) const {
  const double ratio = unit_roundoff(declared) / unit();
  const double operand = operand_rounding();
  return is_float(declared) && operand > ratio * ratio ? operand : 0;
}

OracleValue exact_output(const Call& call, std::size_t index, Tensor value) {
  OracleValue result;
  result.declared = call.declared_output(index);
  if (result.declared == DataType::undefined) result.declared = value.dtype();
  if (is_float(result.declared) && is_float(value.dtype())) {
    value = widened(value);
    result.overflow = overflows(value, result.declared);
  }
  if (call.numerics.sigma && is_float(result.declared)) {
    result.sigma = Tensor::zeros(DataType::f64, value.shape());
  }
  result.value = std::move(value);
  return result;
}

bool overflows(const Tensor& wide, DataType declared) {
  if (declared == DataType::f64 || wide.dtype() != DataType::f64) return false;
  const double limit = max_finite(declared);
  for (const double v : host::raw<double>(wide)) {
    if (std::abs(v) > limit && std::isfinite(v)) return true;
  }
  return false;
}

}  // namespace concord::reference
