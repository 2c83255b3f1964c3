#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/dim.h"
#include "graph/extent_rules.h"
#include "graph/graph.h"

namespace concord::graph {

// A rule that some node has for two extents, though the model's inputs name them apart (an
// attention mask over total_seq meets scores over past_seq + seq).
struct ShapeTie {
  ExtentRule rule;
  std::string node;
  bool in_body = false;  // of a branch that may not be taken, or a loop that may not turn
};

// Of the graph and the bodies of its control flow.
std::vector<ShapeTie> shape_ties(const Graph& graph);

// Binds every symbol that a tie with no other unbound symbol decides, until nothing changes.
void solve_ties(const std::vector<ShapeTie>& ties, Bindings& bindings);

// A sentence about a tie outside bodies that the bindings break, if there is one.
std::optional<std::string> contradiction(const std::vector<ShapeTie>& ties,
                                         const Bindings& bindings);

}  // namespace concord::graph
