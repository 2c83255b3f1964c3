#include "backends/gpu/lower/part.h"

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {

void take_part(NodeLowering& node, std::size_t i, const Operand& x, std::int64_t offset,
               const Shape& strides) {
  constexpr std::int64_t kVectorBytes = 16;
  const Shape shape = node.out_shape(i);
  const Shape both[] = {strides};
  const Walk walk = make_walk(shape, both);
  const std::int64_t bytes = storage_bytes(x.dtype, offset);
  const bool dense = walk.rank == 0 || (walk.rank == 1 && walk.strides[0][kMaxAxes - 1] == 1);
  if (dense && walk.count > 0 && bytes % kVectorBytes == 0) {
    Operand part = x;
    part.offset += bytes;
    return node.alias(i, part);
  }
  const Operand y = node.out(i);
  emit_copy(node, x, y, {shape, strides, contiguous_strides(shape), offset, 0});
}

}  // namespace concord::gpu
