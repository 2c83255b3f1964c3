#include "graph/passes/list.h"
#include "graph/passes/rewriter.h"

namespace concord::graph {

int remove_dead(Graph& graph, const PassOptions&) {
  Rewriter rw(graph);
  for (auto it = rw.order().rbegin(); it != rw.order().rend(); ++it) {
    if (rw.node(*it).removed) continue;
    rw.remove_if_unused(*it);
    Node& node = graph.node(*it);
    if (node.removed || !node.bodies.empty()) continue;
    // Optional results that nobody reads need not be written.
    const auto needed = static_cast<std::size_t>(schema(node.op).min_outputs);
    for (std::size_t o = needed; o < node.outputs.size(); ++o) {
      ValueId& output = node.outputs[o];
      if (!output.valid() || rw.uses(output) > 0 || node.op == OpKind::split) continue;
      graph.value(output).producer = {};
      output = {};
    }
  }
  return rw.changes();
}

}  // namespace concord::graph
