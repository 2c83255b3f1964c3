#include <map>

#include "graph/passes/simplify.h"

namespace concord::graph {

// The branch that a known condition takes stands in the place of the node.
bool simplify_branch(Rewriter& rw, NodeId id) {
  if (rw.node(id).op != OpKind::if_then_else) return false;
  const auto condition = scalar_constant(rw.graph(), rw.node(id).input(0));
  if (!condition) return false;
  const Node origin = rw.node(id);
  const Graph& body = origin.bodies[*condition != 0 ? 0 : 1];
  std::map<ValueId, ValueId> outer;  // of body values
  for (std::size_t i = 0; i < body.inputs.size(); ++i) outer[body.inputs[i]] = origin.input(i + 1);
  for (std::size_t o = 0; o < body.outputs.size(); ++o) {
    if (!origin.outputs[o].valid() || !body.value(body.outputs[o]).producer.valid()) continue;
    outer.emplace(body.outputs[o], origin.outputs[o]);
  }
  const auto in_graph = [&](ValueId inner) {
    if (!inner.valid()) return inner;
    const auto known = outer.find(inner);
    if (known != outer.end()) return known->second;
    const Value& value = body.value(inner);
    const ValueId added = value.constant ? rw.add_constant(value.name, *value.constant)
                                         : rw.add_value(value.name, value.dtype, value.shape);
    outer[inner] = added;
    return added;
  };
  for (const NodeId inner : body.order()) {
    Node node = body.node(inner);
    for (ValueId& input : node.inputs) input = in_graph(input);
    for (ValueId& output : node.outputs) output = in_graph(output);
    node.sources = origin.sources;
    rw.insert(std::move(node), id);
  }
  // Outputs that the branch passes through, or gives twice.
  for (std::size_t o = 0; o < body.outputs.size(); ++o) {
    const ValueId wanted = origin.outputs[o];
    const ValueId found = in_graph(body.outputs[o]);
    if (!wanted.valid() || found == wanted) continue;
    Node identity;
    identity.op = OpKind::unary;
    identity.inputs = {found};
    identity.outputs = {wanted};
    identity.attrs = Attributes{{"fn", std::string("identity")}, {"alpha", 0.0}, {"beta", 0.0}};
    identity.name = origin.name;
    identity.source_op = origin.source_op;
    identity.sources = origin.sources;
    rw.insert(std::move(identity), id);
  }
  rw.remove(id);
  return true;
}

}  // namespace concord::graph
