// The vector loops of the elementwise operators, and what is known of them.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/elementwise.h"

namespace concord::cpu {

// out[i] = op(a[i], b[i], c[i]) for i < n; n a multiple of element_lanes(), operands that the
// operator does not have are ignored. out may be any of the operands.
using ElementLoop = void (*)(std::int64_t n, const float* a, const float* b, const float* c,
                             float* out, float p0, float p1);
ElementLoop element_loop(ElementOp op);
int element_lanes();

int operand_count(ElementOp op);

// Rough nanoseconds per element on one core, data in L1.
double element_cost(ElementOp op);

}  // namespace concord::cpu
