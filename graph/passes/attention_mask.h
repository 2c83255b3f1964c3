#pragma once

#include <string>
#include <vector>

#include "graph/passes/match.h"

namespace concord::graph {

// What an attention sees: a mask operand, and what can be said by attributes instead.
struct AttentionMask {
  ValueId mask;  // bool (true: may see) or of the type of q (added); invalid: none
  std::string causal = "none";
  std::int64_t window = -1;
  std::vector<NodeId> absorbed;  // nodes whose work the attributes do
};

// Joins masks that are added to, or select from, scores of extents [.., queries, keys]. Conditions
// on positions become attributes where that gives the same result in every row.
AttentionMask join_masks(Rewriter& rw, const std::vector<ValueId>& masks, const Dim& queries,
                         const Dim& keys, DataType type, const Node& origin, NodeId before);

}  // namespace concord::graph
