#include "backends/gpu/lower/emit.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  return why_no_move(query);
}

// One pass per repeated axis: what lies from there on is written several times.
void lower(NodeLowering& node) {
  Operand x = node.in(0);
  const Shape repeats = node.dims("repeats");
  if (x.count() == element_count(node.out_shape())) return node.alias(0, x);
  const Operand y = node.out();
  for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
    if (repeats[axis] == 1) continue;
    Shape shape = x.shape;
    shape[axis] *= repeats[axis];
    const Operand to = shape == y.shape ? y : node.temporary(x.dtype, shape);
    const std::int64_t outer = element_count(std::span(x.shape).first(axis));
    const std::int64_t block = element_count(std::span(x.shape).subspan(axis));
    emit_copy(
        node, x, to,
        {{outer, repeats[axis], block}, {block, 0, 1}, {block * repeats[axis], block, 1}, 0, 0});
    x = to;
  }
}

}  // namespace

const Lowering gpu_tile{why, lower};

}  // namespace concord::gpu
