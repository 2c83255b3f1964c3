#pragma once

#include <span>

#include "graph/error.h"
#include "graph/graph.h"

namespace concord::graph {

// Which operand's elements a run checks: indices, an axis, lengths, divisors; −1: none's.
int checked_operand(const Node& node);

// An error that the node's run met, with the node before it, and the operand whose elements are
// checked where the message does not name it.
Error at_node(const Error& error, const Graph& graph, const Node& node);

// An error that the node met with these operands (omitted ones are undefined): what decides its
// result's extents is told after it, where the message does not name it.
Error with_operands(const Error& error, const Graph& graph, const Node& node,
                    std::span<const Tensor> inputs);

// The error of an extent that has no value under the bindings: usage if a symbol is unset, invalid
// if the number is beyond 64 bits.
Error no_value(const Dim& dim, const Bindings& bindings);

}  // namespace concord::graph
