#pragma once

#include <optional>
#include <string>

#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {

// cum_sum and cum_prod.
std::optional<std::string> why_not_cumulative(const graph::Graph& graph, const graph::Node& node);
PlanFn prepare_cumulative(Compiler& compiler, CumulativeOp op);

}  // namespace concord::cpu
