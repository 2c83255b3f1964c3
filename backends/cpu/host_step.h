#pragma once

#include <optional>
#include <string>

#include "backends/cpu/lowering.h"

namespace concord::cpu {

// A node carried out by the host interpreter: for operators without floating-point arithmetic that
// are on no hot path. The slow way: its tensors are wrapped and its results copied.
std::optional<std::string> why_not_host(const graph::Graph& graph, const graph::Node& node);
PlanFn prepare_host(Compiler& compiler);

}  // namespace concord::cpu
