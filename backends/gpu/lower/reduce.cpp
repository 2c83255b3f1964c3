#include "backends/gpu/kernels/reduce.h"

#include <algorithm>
#include <vector>

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/reduce.h"
#include "backends/gpu/lower/rows.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

bool reduced(const std::vector<std::int64_t>& axes, std::size_t axis) {
  return std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
}

// x seen as [outer, length, inner] with `length` reduced; nullopt where the axes lie apart.
std::optional<ReduceExtents> neighbours(const Shape& shape, const std::vector<std::int64_t>& axes) {
  ReduceExtents extents;
  int part = 0;  // outer, length, inner
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    const bool inside = reduced(axes, axis);
    if (part == 0 && inside) part = 1;
    if (part == 1 && !inside) part = 2;
    if (part == 2 && inside) return std::nullopt;
    (part == 0 ? extents.outer : part == 1 ? extents.length : extents.inner) *= shape[axis];
  }
  return extents;
}

// x with the reduced axes moved to the end.
Operand gathered(NodeLowering& node, const Operand& x, const std::vector<std::int64_t>& axes) {
  const Shape own = contiguous_strides(x.shape);
  StridedCopy how;
  for (const bool last : {false, true}) {
    for (std::size_t axis = 0; axis < x.shape.size(); ++axis) {
      if (reduced(axes, axis) != last) continue;
      how.extents.push_back(x.shape[axis]);
      how.x_strides.push_back(own[axis]);
    }
  }
  how.y_strides = contiguous_strides(how.extents);
  Operand moved = node.temporary(x.dtype, how.extents);
  emit_copy(node, x, moved, how);
  return moved;
}

std::optional<std::string> why(const Query& query) {
  return why_no_reduce(query, query.node.attrs.text("fn"), query.in(0));
}

void lower(NodeLowering& node) {
  Operand x = node.in(0);
  const Operand y = node.out();
  if (y.count() == 0) return;
  const std::vector<std::int64_t>& axes = node.attrs().integers("axes");
  std::optional<ReduceExtents> extents = neighbours(x.shape, axes);
  if (!extents.has_value()) {
    x = gathered(node, x, axes);
    extents = ReduceExtents{y.count(), x.count() / y.count(), 1};
  }
  emit_reduce(node, node.attrs().text("fn"), x, *extents, y);
}

}  // namespace

std::optional<std::string> why_no_reduce(const Query& query, const std::string& fn,
                                         DataType storage) {
  if (storage == DataType::undefined) return std::nullopt;
  return query.need_kernel("reduce_" + fn + "_" + type_suffix(storage));
}

void emit_reduce(NodeLowering& node, const std::string& fn, const Operand& x,
                 const ReduceExtents& extents, const Operand& y) {
  const std::int64_t n = extents.outer * extents.inner;
  if (n == 0) return;
  // One invocation per result reads side by side where `inner` is wide; else several share a row.
  const std::int64_t wide = node.properties().is_cpu_driver ? 8 : 32;
  const bool has_shared = x.dtype == DataType::f32 || x.dtype == DataType::f16;
  const bool alone = !has_shared || extents.inner >= wide || extents.length <= 4;
  const std::string name = "reduce_" + fn + "_" +
                           (alone ? "" : row_width(node.properties(), extents.length) + "_") +
                           type_suffix(x.dtype);
  node.dispatch(node.kernel<kernels::ReduceParams>(name),
                alone ? flat_groups(n, 64) : row_groups(n),
                kernels::ReduceParams{node.read(x), node.write(y), to_i32(n),
                                      to_i32(extents.length), to_i32(extents.inner)});
  node.add_flops(static_cast<double>(n * extents.length));
}

const Lowering gpu_reduce{why, lower};

}  // namespace concord::gpu
