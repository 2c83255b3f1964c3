#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace concord::host {

// The host interpreter: operators whose results hold no floating-point arithmetic (shapes, indices,
// choices, integers, booleans, strings, movement of any element type, casts), node by node on dense
// tensors.
// It serves what is the host's by nature, and the oracle for the same operators.
//
// nullopt if the node can run here, else why not.
std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node);

// Omitted inputs are undefined tensors. Throws Error(invalid) on a bad run-time value (an index out
// of range, a negative extent, division by zero), naming the value, not the node. New tensors may
// view an input's memory.
std::vector<Tensor> run(const graph::Graph& graph, const graph::Node& node,
                        std::span<const Tensor> inputs, const Bindings& bindings);

}  // namespace concord::host
