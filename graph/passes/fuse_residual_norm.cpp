#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

// (a + b) + bias in front of a normalisation: the bias goes to the operand that a product makes,
// which takes it in.
void move_bias(Rewriter& rw, NodeId id) {
  const ValueId sum = rw.node(id).input(0);
  const Node* outer = binary_producer(rw, sum, BinaryFn::add);
  if (outer == nullptr) return;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const ValueId bias = outer->input(1 - i);
    const ValueId both = outer->input(i);
    const Node* inner = binary_producer(rw, both, BinaryFn::add);
    if (inner == nullptr || !rw.single_use(both) || !rw.value(bias).is_constant() ||
        rank_of(rw.graph(), bias).value_or(9) > 1 || !same_shape(rw.graph(), both, sum)) {
      continue;
    }
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const ValueId product = inner->input(k);
      const ValueId other = inner->input(1 - k);
      if (rw.producer(product, OpKind::matmul) == nullptr || !rw.single_use(product) ||
          !same_shape(rw.graph(), product, sum) || !same_shape(rw.graph(), other, sum)) {
        continue;
      }
      const Node origin = *outer;
      const NodeId outer_id = rw.producer_id(sum);
      const NodeId inner_id = rw.producer_id(both);
      const ValueId biased =
          rw.insert(OpKind::binary, {product, bias}, origin.attrs, origin, outer_id);
      Node add = origin;
      add.outputs.clear();
      add.inputs = {biased, other};
      rw.replace(outer_id, std::move(add), {inner_id});
      return;
    }
  }
}

bool fuse(Rewriter& rw, NodeId id) {
  const OpKind op = rw.node(id).op;
  if (op == OpKind::layer_norm || op == OpKind::rms_norm) move_bias(rw, id);
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
  return rewrite_each(graph, fuse);
}

}  // namespace concord::graph
