#include "graph/passes/list.h"
#include "graph/passes/rewriter.h"

namespace concord::graph {
namespace {

// How many leading inputs of the node are not captures, and how many of a body's.
struct Skip {
  std::size_t node;
  std::size_t body;
};

Skip skipped(const Node& node) {
  switch (node.op) {
    case OpKind::if_then_else:
      return {1, 0};
    case OpKind::loop: {
      const auto n = static_cast<std::size_t>(node.attrs.integer("carried")) + 2;
      return {n, n};
    }
    default: {
      const auto n =
          static_cast<std::size_t>(node.attrs.integer("states") + node.attrs.integer("scans"));
      return {n, n};
    }
  }
}

}  // namespace

// Constants that bodies capture become constants of the bodies, so that passes and backends see
// weights as weights there.
int inline_captures(Graph& graph, const PassOptions&) {
  int changes = 0;
  for (const NodeId id : graph.order()) {
    Node& node = graph.node(id);
    if (node.bodies.empty()) continue;
    const Skip skip = skipped(node);
    std::vector<ValueId> kept(node.inputs.begin(),
                              node.inputs.begin() + static_cast<std::ptrdiff_t>(skip.node));
    std::vector<bool> moved(node.inputs.size(), false);
    for (std::size_t i = skip.node; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (input.valid() && graph.value(input).constant) {
        moved[i] = true;
        ++changes;
      } else {
        kept.push_back(input);
      }
    }
    for (Graph& body : node.bodies) {
      std::vector<ValueId> inputs(body.inputs.begin(),
                                  body.inputs.begin() + static_cast<std::ptrdiff_t>(skip.body));
      for (std::size_t i = skip.node; i < node.inputs.size(); ++i) {
        const ValueId inner = body.inputs[i - skip.node + skip.body];
        if (!moved[i]) {
          inputs.push_back(inner);
          continue;
        }
        Value& value = body.value(inner);
        const Tensor& t = *graph.value(node.inputs[i]).constant;
        value.dtype = t.dtype();
        value.shape = SymShape(t.shape().begin(), t.shape().end());
        value.constant = t;
      }
      body.inputs = std::move(inputs);
    }
    node.inputs = std::move(kept);
  }
  return changes;
}

}  // namespace concord::graph
