#include "backends/gpu/lower/emit.h"

namespace concord::gpu {
namespace {

void lower(NodeLowering& node) {
  const auto axis = static_cast<std::size_t>(node.attrs().integer("axis"));
  const std::int64_t count = element_count(node.out_shape());
  for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
    const Operand x = node.in(i);
    if (x.count() == count) return node.alias(0, x);
  }
  const Operand y = node.out();
  const Shape strides = contiguous_strides(y.shape);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
    const Operand x = node.in(i);
    emit_copy(node, x, y, {x.shape, contiguous_strides(x.shape), strides, 0, offset});
    offset += x.shape[axis] * strides[axis];
  }
}

}  // namespace

const Lowering gpu_concat{why_no_move, lower};

}  // namespace concord::gpu
