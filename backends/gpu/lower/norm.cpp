#include "backends/gpu/lower/norm.h"

#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/norm.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/rows.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {

std::optional<std::string> why_no_norm(const Query& query, const NormForm& form) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(form.kernel + row_width(query.properties, 1) + "_" +
                           type_suffix(query.in(0)));
}

namespace {

// `operand` broadcast to `shape` where it has fewer elements.
Operand widened(NodeLowering& node, const Operand& operand, const Shape& shape) {
  if (operand.count() == element_count(shape)) return operand;
  Operand wide = node.temporary(operand.dtype, shape);
  emit_broadcast(node, operand, wide);
  return wide;
}

}  // namespace

// Inputs x, [gamma], [beta], [residual]; outputs y, [sum].
void lower_norm(NodeLowering& node, const NormForm& form) {
  const Operand x = node.in(0);
  const Operand y = node.out();
  if (y.count() == 0) return;
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const Shape normalised(x.shape.begin() + static_cast<std::ptrdiff_t>(axis), x.shape.end());
  const std::int64_t columns = element_count(normalised);
  const std::int64_t rows = x.count() / columns;
  const std::size_t residual = form.has_beta ? 3 : 2;
  kernels::NormParams params{node.read(x)};
  if (node.has(residual)) {
    params.residual = node.read(widened(node, node.in(residual), x.shape));
  }
  if (node.has(1)) params.gamma = node.read(widened(node, node.in(1), normalised));
  if (form.has_beta && node.has(2)) {
    params.beta = node.read(widened(node, node.in(2), normalised));
  }
  params.y = node.write(y);
  if (node.has_out(1)) params.sum = node.update(node.out(1));
  params.rows = to_i32(rows);
  params.columns = to_i32(columns);
  params.epsilon = static_cast<float>(node.attrs().number("epsilon"));
  const std::string name = form.kernel + (node.has(residual) ? "residual_" : "") +
                           row_width(node.properties(), columns) + "_" + type_suffix(x.dtype);
  node.dispatch(node.kernel<kernels::NormParams>(name), row_groups(rows), params);
  node.add_flops(8.0 * static_cast<double>(x.count()));
}

}  // namespace concord::gpu
