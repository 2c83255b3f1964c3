#pragma once

#include "graph/passes/match.h"

namespace concord::graph {

// A value that is start + i along one axis and the same along all others.
struct Iota {
  std::size_t axis = 0;
  Dim start;
  Dim length;
  std::vector<NodeId> nodes;
};
std::optional<Iota> iota(const Rewriter& rw, ValueId id, int depth = 8);

}  // namespace concord::graph
