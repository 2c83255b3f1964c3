#pragma once

#include <optional>

#include "graph/dim.h"
#include "graph/graph.h"

namespace concord::parity {

// What one node must do at least, whatever the kernel: the same rule for every backend.
struct Work {
  double flops = 0;         // 2 per multiply-add; 0 for what only moves
  double bytes = 0;         // each operand read once, each result written once; a view moves none
  double weight_bytes = 0;  // of these, constants of the model
};

// Nullopt where an extent depends on data. Lookups count the rows that they read, not the table.
std::optional<Work> work_of(const graph::Graph& graph, const graph::Node& node,
                            const Bindings& bindings);

// What a run of all the graph's own nodes moves; nodes of unknown extents and bodies count nothing.
double moved_bytes(const graph::Graph& graph, const Bindings& bindings);

}  // namespace concord::parity
