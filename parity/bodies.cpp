#include "parity/bodies.h"

namespace concord::parity {

const graph::Graph* find_body(const graph::Graph& graph, const BodyPath& path) {
  const graph::Graph* current = &graph;
  for (const auto& [node, which] : path) {
    if (node < 0 || static_cast<std::size_t>(node) >= current->node_count()) return nullptr;
    const auto& bodies = current->node(graph::NodeId{node}).bodies;
    if (which < 0 || static_cast<std::size_t>(which) >= bodies.size()) return nullptr;
    current = &bodies[static_cast<std::size_t>(which)];
  }
  return current;
}

}  // namespace concord::parity
