#pragma once

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/matmul_plan.h"
#include "backends/cpu/plan.h"
#include "graph/dtype.h"

namespace concord::cpu {

// Products of f64 and of integers, by plain loops: nothing that a model does often.
bool has_plain_matmul(DataType dtype);
PlanFn prepare_plain_matmul(Compiler& compiler, const ProductForm& form);

// The strides of a view's batch axes (all but the last two) against `axes` batch axes of the
// result, aligned at the last; 0 where it is broadcast.
Dims broadcast_batch(const View& view, int axes);

}  // namespace concord::cpu
