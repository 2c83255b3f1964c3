#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

struct Gated {
  std::string_view fn;
  double alpha = 0;
  std::vector<NodeId> absorbed;
};

// What x · gate is, if the gate is a function of x.
std::optional<Gated> gated(const Rewriter& rw, ValueId x, ValueId gate) {
  const Node* node = rw.producer(gate);
  if (node == nullptr || !rw.single_use(gate)) return std::nullopt;
  const NodeId id = rw.producer_id(gate);
  if (is_unary(node, UnaryFn::sigmoid)) {
    if (node->input(0) == x) return Gated{"silu", 0, {id}};
    const Node* scale = rw.producer(node->input(0));
    const auto scaled = scale ? scaled_by(rw.graph(), *scale) : std::nullopt;
    if (scaled && scaled->base == x) {
      return Gated{"quick_gelu", scaled->factor, {id, rw.producer_id(node->input(0))}};
    }
  }
  if (is_unary(node, UnaryFn::hard_sigmoid) && node->input(0) == x &&
      near(node->attrs.number("alpha"), 1.0 / 6, rw.value(x).dtype) &&
      node->attrs.number("beta") == 0.5) {
    return Gated{"hard_swish", 0, {id}};
  }
  if (is_unary(node, UnaryFn::tanh)) {
    const Node* softplus = unary_producer(rw, node->input(0), UnaryFn::softplus);
    if (softplus != nullptr && softplus->input(0) == x) {
      return Gated{"mish", 0, {id, rw.producer_id(node->input(0))}};
    }
  }
  return std::nullopt;
}

bool fuse(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  if (!is_binary(&node, BinaryFn::mul)) return false;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const ValueId x = node.input(i);
    const auto found = gated(rw, x, node.input(1 - i));
    if (!found || !same_shape(rw.graph(), x, node.output())) continue;
    Node swish;
    swish.op = OpKind::unary;
    swish.inputs = {x};
    swish.attrs =
        Attributes{{"fn", std::string(found->fn)}, {"alpha", found->alpha}, {"beta", 0.0}};
    rw.replace(id, std::move(swish), found->absorbed);
    return true;
  }
  return false;
}

}  // namespace

int fuse_swish(Graph& graph, const PassOptions&) {
  return rewrite_each(graph, fuse);
}

}  // namespace concord::graph
