#pragma once

#include <optional>
#include <string>

#include "backends/cpu/lowering.h"

namespace concord::cpu {

// Convolutions of bytes with scales (inputs 3 and 4).
std::optional<std::string> why_not_conv_integer(const graph::Graph& graph, const graph::Node& node);
PlanFn prepare_conv_integer(Compiler& compiler);

}  // namespace concord::cpu
