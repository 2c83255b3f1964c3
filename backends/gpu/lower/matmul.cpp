#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/matmul_problem.h"
#include "backends/gpu/lower/strides.h"
#include "graph/functions.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  const std::string activation = query.node.attrs.text("activation", "");
  const bool wide_or_integer = query.in(0) != DataType::f32 && query.in(0) != DataType::f16;
  const double alpha = query.node.attrs.number("alpha", 1.0);
  const bool integers = query.in(0) != DataType::undefined && !is_float(query.in(0));
  if (integers && alpha != std::trunc(alpha)) return "integers times a fraction";
  if (wide_or_integer && !activation.empty()) return "an activation of this type";
  if (!fused_activation(activation).has_value()) {
    const auto fn = graph::parse_unary(activation);
    if (auto reason = why_no_unary(query, *fn, query.in(0))) return reason;
  }
  return why_no_matmul(query, query.in(0));
}

// Strides of an operand's batch axes when it is broadcast to `batch`.
Shape batch_strides(const Shape& shape, const Shape& batch) {
  const std::int64_t matrix = shape[shape.size() - 1] * shape[shape.size() - 2];
  Shape strides = broadcast_strides(Shape(shape.begin(), shape.end() - 2), batch);
  for (std::int64_t& stride : strides) stride *= matrix;
  return strides;
}

// Kernels for CPU drivers read a transposed b in order, whatever its size: constants are stored so.
bool stored_transposed(NodeLowering& node) {
  return node.properties().is_cpu_driver && node.is_constant(1) &&
         node.in_type(1) == DataType::f32 && node.in_shape(1).size() == 2 &&
         node.attrs().integer("trans_b", 0) == 0;
}

Operand transposed_constant(NodeLowering& node) {
  const Shape shape = node.in_shape(1);  // [k, n]
  const auto pack = [shape](const Tensor& value, std::span<std::byte> bytes) {
    std::vector<std::byte> widened;
    const std::byte* from = value.in_place();  // perhaps unaligned
    if (value.dtype() != DataType::f32) {
      widened.resize(bytes.size());
      to_storage(value, DataType::f32, widened);
      from = widened.data();
    }
    auto* to = reinterpret_cast<float*>(bytes.data());
    const auto rows = static_cast<std::size_t>(shape[0]);
    const auto columns = static_cast<std::size_t>(shape[1]);
    constexpr std::size_t kTile = 32;  // keeps what is read and written in the first cache
    for (std::size_t top = 0; top < rows; top += kTile) {
      for (std::size_t left = 0; left < columns; left += kTile) {
        const std::size_t bottom = std::min(top + kTile, rows);
        const std::size_t right = std::min(left + kTile, columns);
        for (std::size_t column = left; column < right; ++column) {
          for (std::size_t row = top; row < bottom; ++row) {
            std::memcpy(to + column * rows + row, from + (row * columns + column) * sizeof(float),
                        sizeof(float));
          }
        }
      }
    }
  };
  return node.packed(1, "transposed_f32", DataType::f32, {shape[1], shape[0]}, pack);
}

MatmulProblem make_problem(NodeLowering& node, const Operand& a, const Operand& b,
                           const Operand& c) {
  const bool trans_a = node.attrs().integer("trans_a", 0) != 0;
  const bool trans_b = node.attrs().integer("trans_b", 0) != 0 || stored_transposed(node);
  MatmulProblem p;
  p.a = a;
  p.b = b;
  p.c = c;
  p.m = c.shape[c.shape.size() - 2];
  p.n = c.shape.back();
  p.k = trans_a ? a.shape[a.shape.size() - 2] : a.shape.back();
  p.a_row = trans_a ? 1 : p.k;
  p.a_column = trans_a ? p.m : 1;
  p.b_row = trans_b ? 1 : p.n;
  p.b_column = trans_b ? p.k : 1;
  p.c_row = p.n;
  p.batch = Shape(c.shape.begin(), c.shape.end() - 2);
  p.a_batch = batch_strides(a.shape, p.batch);
  p.b_batch = batch_strides(b.shape, p.batch);
  p.c_batch = batch_strides(c.shape, p.batch);
  // One matrix for all of a's: its rows are then rows of one tall matrix.
  const bool one_b = b.count() == p.k * p.n;
  if (one_b && !trans_a && a.count() == p.m * p.k * element_count(p.batch)) {
    p.m *= element_count(p.batch);
    p.batch.clear();
    p.a_batch.clear();
    p.b_batch.clear();
    p.c_batch.clear();
  }
  return p;
}

// Bias in the two forms that kernels add; false for another one.
bool take_bias(NodeLowering& node, MatmulProblem& p, const Operand& bias) {
  if (bias.count() == p.n && bias.rank() > 0 && bias.shape.back() == p.n) {
    p.bias = bias;
    return true;
  }
  if (bias.count() == p.m && p.batch.empty() && bias.rank() > 1 && bias.shape.back() == 1) {
    p.bias = bias;
    p.bias_per_row = true;
    return true;
  }
  if (bias.count() == 1) {
    p.bias = node.temporary(bias.dtype, {p.n});
    emit_broadcast(node, bias, p.bias);
    return true;
  }
  return false;
}

void lower(NodeLowering& node) {
  const Operand y = node.out();
  if (y.count() == 0) return;
  const Operand b = stored_transposed(node) ? transposed_constant(node) : node.in(1);
  Operand a = node.in(0);
  double alpha = node.attrs().number("alpha", 1.0);
  if (a.dtype == DataType::f64 && alpha != static_cast<float>(alpha)) {
    // Kernels take the factor as f32, which would round it.
    const Operand scaled = node.temporary(a.dtype, a.shape);
    emit_binary(node, graph::BinaryFn::mul, a, node.plan_constant(Tensor::scalar(alpha)), scaled);
    a = scaled;
    alpha = 1;
  }
  MatmulProblem p = make_problem(node, a, b, y);
  p.alpha = static_cast<float>(alpha);
  const std::string activation = node.attrs().text("activation", "");
  const auto fused = fused_activation(activation);
  bool biased = !node.has(2) || take_bias(node, p, node.in(2));
  Operand residual = node.has(3) ? node.in(3) : Operand{};
  if (!biased && !residual.defined() && activation.empty()) {
    residual = node.in(2);  // the sum is the same
    biased = true;
  }
  const bool in_kernel = biased && fused.has_value();
  if (in_kernel) {
    p.activation = *fused;
    if (residual.defined() && residual.count() != y.count()) {
      const Operand whole = node.temporary(residual.dtype, y.shape);
      emit_broadcast(node, residual, whole);
      residual = whole;
    }
    p.residual = residual;
  }
  emit_matmul(node, p);
  if (in_kernel) return;
  if (!biased) emit_binary(node, graph::BinaryFn::add, y, node.in(2), y);
  if (!activation.empty()) {
    emit_unary(node, *graph::parse_unary(activation),
               static_cast<float>(node.attrs().number("act_alpha", 0.0)),
               static_cast<float>(node.attrs().number("act_beta", 0.0)), y, y);
  }
  if (residual.defined()) emit_binary(node, graph::BinaryFn::add, y, residual, y);
}

}  // namespace

const Lowering gpu_matmul{why, lower};

}  // namespace concord::gpu
