#include "backends/gpu/lower/emit.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  return why_no_move(query);
}

// Each axis becomes two: repeats, along which x stands still, and x's own.
void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Shape repeats = node.dims("repeats");
  if (x.count() == element_count(node.out_shape())) return node.alias(0, x);
  const Operand y = node.out();
  const Shape x_own = contiguous_strides(x.shape);
  const Shape y_own = contiguous_strides(y.shape);
  StridedCopy how;
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis) {
    how.extents.insert(how.extents.end(), {repeats[axis], x.shape[axis]});
    how.x_strides.insert(how.x_strides.end(), {0, x_own[axis]});
    how.y_strides.insert(how.y_strides.end(), {x.shape[axis] * y_own[axis], y_own[axis]});
  }
  emit_copy(node, x, y, how);
}

}  // namespace

const Lowering gpu_tile{why, lower};

}  // namespace concord::gpu
