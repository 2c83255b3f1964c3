#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace concord::parity {

// The number of rows of the smallest table that an integer value looks up (through casts, moves and
// constant offsets, into the bodies of control flow): its elements must lie in [0, bound). nullopt
// if it looks up none, or none of known size.
std::optional<std::int64_t> index_bound(const graph::Graph& graph, graph::ValueId id);

}  // namespace concord::parity
