#pragma once

#include "backends/gpu/lowering.h"

namespace concord::gpu {

// Throws Error(invalid) if the data that indices are given for is empty: kernels clamp what is out
// of range, and there is nothing to clamp to.
void require_elements(const Operand& data);

}  // namespace concord::gpu
