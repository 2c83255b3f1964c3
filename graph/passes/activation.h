#pragma once

#include "graph/passes/match.h"

namespace concord::graph {

// Unary functions that products and convolutions apply to what they write.
bool is_activation(const Node& node);

}  // namespace concord::graph
