#pragma once

#include "backends/cpu/kernels/gather.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {

// What scatter_elements and scatter_nd share: inputs x, indices, updates.
// Whether the kernels do it; else the host does.
bool scatters_here(DataType dtype, ScatterOp op);
std::optional<std::string> why_not_scatter(const graph::Graph& graph, const graph::Node& node);
ScatterOp scatter_op(const graph::Node& node);
// The output, filled with a copy of x where x cannot be changed in place.
Ref plan_scatter_copy(Planner& p);

}  // namespace concord::cpu
