#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  Node& node = in.node();
  const auto states = static_cast<std::size_t>(in.attrs().integer("states"));
  const auto scans = static_cast<std::size_t>(in.attrs().integer("scans"));
  if (node.bodies.size() != 1) mismatch("one body", std::to_string(node.bodies.size()));
  Graph& body = node.bodies[0];
  const std::size_t n = node.outputs.size();
  if (states > n || scans > node.inputs.size() || states + scans > node.inputs.size() ||
      body.inputs.size() != node.inputs.size() || body.outputs.size() != n || states > n) {
    mismatch("a body with " + std::to_string(node.inputs.size()) + " inputs and " +
                 std::to_string(n) + " outputs",
             std::to_string(body.inputs.size()) + " and " + std::to_string(body.outputs.size()));
  }
  // axes: of the scanned inputs, then of the scanned outputs.
  std::vector<std::int64_t> axes = in.attrs().integers("axes");
  axes.resize(scans + n - states, 0);
  std::optional<Dim> length;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    Value outer = graph.value(node.inputs[i]);
    if (i < states || i >= states + scans) {
      bind_body_input(body, i, outer, i >= states);
      continue;
    }
    if (outer.shape) {
      const auto rank = static_cast<std::int64_t>(outer.shape->size());
      const auto at = static_cast<std::size_t>(checked_axis(axes[i - states], rank));
      axes[i - states] = static_cast<std::int64_t>(at);
      const Dim d = (*outer.shape)[at];
      length = length ? merge_equal(*length, d) : d;
      outer.shape->erase(outer.shape->begin() + static_cast<std::ptrdiff_t>(at));
    }
    bind_body_input(body, i, outer, false);
  }
  infer(body);
  for (std::size_t o = 0; o < n; ++o) {
    const Value& inner = body.value(body.outputs[o]);
    if (o < states) {
      join_output(in, o, graph.value(node.inputs[o]), inner);
      continue;
    }
    if (!inner.shape) {
      in.output(o, inner.dtype);
      continue;
    }
    SymShape shape = *inner.shape;
    const auto rank = static_cast<std::int64_t>(shape.size()) + 1;
    const auto at = static_cast<std::size_t>(checked_axis(axes[scans + o - states], rank));
    axes[scans + o - states] = static_cast<std::int64_t>(at);
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at),
                 length ? *length : in.dynamic(o, at, "scan"));
    for (std::size_t k = 0; k < shape.size(); ++k) {
      if (k != at && shape[k].has_dynamic()) shape[k] = in.dynamic(o, k);
    }
    in.output(o, inner.dtype, std::move(shape));
  }
  in.attrs().set("axes", std::move(axes));
}

}  // namespace

const OpSchema schema_scan{1, -1, 0, -1, infer_op};

}  // namespace concord::graph
