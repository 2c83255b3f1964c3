#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

// A model may leave the ranks of its inputs open. Everything after the import (passes, partition,
// plans, reports) wants them known, so a graph is bound to the ranks of the inputs at hand first.
namespace concord {

// The first input whose rank the graph does not know; null if it knows all.
const graph::Value* input_of_any_rank(const graph::Graph& graph);

std::vector<std::int64_t> ranks_of(std::span<const Tensor> inputs);
// Of inputs by name, in the graph's order; 0 for one that is not there.
std::vector<std::int64_t> ranks_of(const graph::Graph& graph,
                                   const std::map<std::string, Tensor>& inputs);

// The graph for inputs of these ranks, in the order of its inputs: an input of any rank gets
// extents that are symbols of their own ("x.0", "x.1"). Ids stay. The same graph where all ranks
// are known; throws Error(invalid) where a node contradicts the ranks.
std::shared_ptr<const graph::Graph> with_ranks(std::shared_ptr<const graph::Graph> graph,
                                               std::span<const std::int64_t> ranks);

// The symbols of the inputs' shapes; what contradicts is left to check_inputs (session.h).
Bindings bindings_of(const graph::Graph& graph, std::span<const Tensor> inputs);

}  // namespace concord
