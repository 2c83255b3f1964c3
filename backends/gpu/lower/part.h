#pragma once

#include "backends/gpu/lowering.h"

namespace concord::gpu {

// Output `i` is the part of x that starts at element `offset` and moves by `strides` (elements).
// Where that part lies densely, and where kernels may load whole vectors from it, no data moves.
void take_part(NodeLowering& node, std::size_t i, const Operand& x, std::int64_t offset,
               const Shape& strides);

}  // namespace concord::gpu
