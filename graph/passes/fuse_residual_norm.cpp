#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

bool fuse(Rewriter& rw, NodeId id) {
  const Node& norm = rw.node(id);
  const bool layer = norm.op == OpKind::layer_norm;
  if (!layer && norm.op != OpKind::rms_norm) return false;
  const std::size_t at = layer ? 3 : 2;
  if (norm.has_input(at)) return false;
  const ValueId sum = norm.input(0);
  const Node* add = binary_producer(rw, sum, BinaryFn::add);
  if (add == nullptr) return false;
  const ValueId a = add->input(0);
  const ValueId b = add->input(1);
  if (rw.value(a).is_constant() || rw.value(b).is_constant() || a == b) return false;
  if (!same_shape(rw.graph(), a, b) || !same_shape(rw.graph(), a, sum)) return false;
  // The node takes the place of the addition: its other operands must be there already.
  for (std::size_t i = 1; i < at; ++i) {
    if (norm.has_input(i) && !rw.value(norm.input(i)).is_constant()) return false;
  }
  const NodeId place = rw.producer_id(sum);
  Node node;
  node.op = norm.op;
  node.inputs = norm.inputs;
  node.inputs.resize(at + 1);
  node.inputs[0] = a;
  node.inputs[at] = b;
  node.attrs = norm.attrs;
  node.outputs = {norm.output()};
  if (!rw.single_use(sum)) node.outputs.push_back(sum);
  rw.replace(id, std::move(node), {place}, place);
  return true;
}

}  // namespace

int fuse_residual_norm(Graph& graph, const PassOptions&) {
  Rewriter rw(graph);
  int found = 0;
  for (const NodeId id : rw.order()) {
    if (!rw.node(id).removed && fuse(rw, id)) ++found;
  }
  return found;
}

}  // namespace concord::graph
