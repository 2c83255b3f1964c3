#include <vector>

#include "backends/gpu/lower/emit.h"

namespace concord::gpu {
namespace {

// Axes of more than one element keep their order: no data moves.
bool keeps_order(const Shape& shape, const std::vector<std::int64_t>& perm) {
  std::int64_t last = -1;
  for (const std::int64_t axis : perm) {
    if (shape[static_cast<std::size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const std::vector<std::int64_t>& perm = node.attrs().integers("perm");
  if (keeps_order(x.shape, perm)) return node.alias(0, x);
  const Operand y = node.out();
  const Shape own = contiguous_strides(x.shape);
  Shape strides;
  for (const std::int64_t axis : perm) strides.push_back(own[static_cast<std::size_t>(axis)]);
  emit_copy(node, x, y, {y.shape, strides, contiguous_strides(y.shape), 0, 0});
}

}  // namespace

const Lowering gpu_transpose{why_no_move, lower};

}  // namespace concord::gpu
