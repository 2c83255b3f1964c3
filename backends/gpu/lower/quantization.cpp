#include "backends/gpu/lower/quantization.h"

#include <algorithm>

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::size_t axis_of(NodeLowering& node) {
  const std::int64_t axis = node.attrs().integer("axis", 1);
  return static_cast<std::size_t>(
      axis < 0 ? axis + static_cast<std::int64_t>(node.in_shape(0).size()) : axis);
}

bool is_blocked(NodeLowering& node) {
  const Shape x = node.in_shape(0);
  return node.attrs().integer("block_size", 0) > 0 && !x.empty() &&
         node.in_shape(1).size() == x.size();
}

// Kernels would read beyond scales and zero points that don't fit.
void check_shapes(NodeLowering& node) {
  const Shape x = node.in_shape(0);
  const Shape scale = node.in_shape(1);
  bool fits = element_count(scale) == 1;
  if (is_blocked(node)) {
    const std::size_t axis = axis_of(node);
    const std::int64_t block = node.attrs().integer("block_size");
    Shape wanted = x;
    fits = axis < x.size();
    if (fits) wanted[axis] = (x[axis] + block - 1) / block;
    fits = fits && scale == wanted;
  } else if (!fits) {
    const std::size_t axis = axis_of(node);
    fits = axis < x.size() && element_count(scale) == x[axis];
  }
  if (node.has(2)) fits = fits && element_count(node.in_shape(2)) == element_count(scale);
  if (fits) return;
  throw Error(ErrorKind::invalid, "scales of shape " + to_string(scale) +
                                      ", or their zero points, do not fit a tensor of shape " +
                                      to_string(x));
}

}  // namespace

ScalePlace scale_place(NodeLowering& node) {
  check_shapes(node);
  const Shape x = node.in_shape(0);
  ScalePlace place;
  const std::int64_t scales = element_count(node.in_shape(1));
  if (scales <= 1 && !is_blocked(node)) {
    place.inner = std::max(to_i32(element_count(x)), 1);
    return place;
  }
  const std::size_t axis = axis_of(node);
  place.axis_extent = to_i32(x[axis]);
  place.inner = to_i32(element_count(std::span(x).subspan(axis + 1)));
  if (is_blocked(node)) {
    place.block = to_i32(node.attrs().integer("block_size"));
    place.blocks = to_i32(node.in_shape(1)[axis]);
  }
  return place;
}

Operand widened_scale(NodeLowering& node, const Operand& scale) {
  check_shapes(node);
  const Shape x = node.in_shape(0);
  if (scale.count() <= 1 && !is_blocked(node)) return NodeLowering::view(scale, {});
  const std::size_t axis = axis_of(node);
  if (!is_blocked(node)) {
    Shape shape(x.size(), 1);
    shape[axis] = scale.count();
    return NodeLowering::view(scale, shape);
  }
  // Each block repeats its scale; the last one may be cut.
  const std::int64_t block = node.attrs().integer("block_size");
  const std::int64_t outer = element_count(std::span(x).first(axis));
  const std::int64_t inner = element_count(std::span(x).subspan(axis + 1));
  const std::int64_t blocks = scale.shape[axis];
  Operand wide = node.temporary(scale.dtype, x);
  const auto repeat = [&](std::int64_t first, std::int64_t count, std::int64_t times) {
    emit_copy(node, scale, wide,
              {{outer, count, times, inner},
               {blocks * inner, inner, 0, 1},
               {x[axis] * inner, block * inner, inner, 1},
               first * inner,
               first * block * inner});
  };
  const std::int64_t whole = x[axis] / block;
  repeat(0, whole, block);
  if (whole < blocks) repeat(whole, 1, x[axis] - whole * block);
  return wide;
}

std::optional<std::string> why_no_scales(const Query& query, DataType narrow) {
  if (query.in(0) == DataType::undefined || query.in(1) == DataType::undefined ||
      query.out() == DataType::undefined) {
    return std::nullopt;
  }
  if (query.in(0) == DataType::f64 || query.in(1) == DataType::f64) return "scales of float64";
  if (is_integer(narrow) && bits(narrow) > 16 && narrow != DataType::i32) {
    return "integers of more than 16 bits";
  }
  if (auto reason = why_no_cast(query, query.in(0), DataType::f32)) return reason;
  return why_no_cast(query, query.in(1), DataType::f32);
}

}  // namespace concord::gpu
