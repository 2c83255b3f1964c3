#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"

namespace concord::parity {

// Chooses a value for every symbolic dimension of the graph's inputs: what `set` says, else what is
// bound by it (total = past + seq is kept), else a small default. Throws Error(usage) for a name
// that the model does not have or values that contradict each other.
Bindings choose_dims(const graph::Graph& graph, const Bindings& set);

// Inputs such as the model could meet, in the graph's order, from a portable generator: indices
// inside the table that they look up, masks of ones, positions counting up, caches of zero-mean
// values. The same seed gives the same bits on every machine.
std::vector<Tensor> generate_inputs(const graph::Graph& graph, const Bindings& dims,
                                    std::uint64_t seed);

}  // namespace concord::parity
