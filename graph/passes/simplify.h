#pragma once

#include "graph/passes/match.h"

// The rules of the pass `simplify`, by kind. Each returns whether it changed the node.
namespace concord::graph {

bool simplify_view(Rewriter& rw, NodeId id);  // reshape, transpose, broadcast, slice, concat, …
bool simplify_transposed(Rewriter& rw, NodeId id);  // transposes sink through other operators
bool simplify_arithmetic(Rewriter& rw, NodeId id);  // unary, binary, select, cast
bool simplify_mask(Rewriter& rw, NodeId id);    // comparisons that are always true, gathered masks
bool simplify_matmul(Rewriter& rw, NodeId id);  // reshapes around products with one weight
bool simplify_branch(Rewriter& rw, NodeId id);  // if_then_else with a known condition

// Bounds of the elements of an integer value, whatever the run; nullopt: not known.
struct ElementRange {
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high;
};
ElementRange element_range(const Rewriter& rw, ValueId id, int depth = 8);

// If the value is an operand repeated to a shape (broadcast, constant_of): what is repeated.
// For constant_of, a scalar constant that is added to the graph.
ValueId repeated_operand(Rewriter& rw, ValueId id);

}  // namespace concord::graph
