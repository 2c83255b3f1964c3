#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "graph/dim.h"
#include "graph/graph.h"

namespace concord::parity {

// What one node must do at least, whatever the kernel: the same rule for every backend.
struct Work {
  double flops = 0;         // 2 per multiply-add; 0 for what only moves
  double bytes = 0;         // each operand read once, each result written once; a view moves none
  double weight_bytes = 0;  // of these, constants of the model
  double first_bytes = 0;   // of these, the first operand
  double narrowed = 0;      // what weights take less than in the model; no part of the above
  // The constants, and what of each is read.
  std::vector<std::pair<graph::ValueId, double>> weights;
};

// Nullopt where an extent depends on data. Lookups count the rows that they read, not the table.
std::optional<Work> work_of(const graph::Graph& graph, const graph::Node& node,
                            const Bindings& bindings);

// Of a value, once; nullopt where an extent depends on data.
std::optional<double> bytes_of(const graph::Graph& graph, graph::ValueId id,
                               const Bindings& bindings);

// What a run of all the graph's own nodes moves; nodes of unknown extents and bodies count nothing.
double moved_bytes(const graph::Graph& graph, const Bindings& bindings);

}  // namespace concord::parity
