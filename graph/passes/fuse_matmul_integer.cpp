#include "graph/passes/list.h"
#include "graph/passes/product_epilogue.h"

namespace concord::graph {
namespace {

enum : std::size_t { kWeights = 1, kWeightsZero = 3, kScale = 4, kBias = 5, kResidual = 6 };

bool constant_of_rank(const Graph& graph, ValueId id, std::size_t least, std::size_t most) {
  if (!graph.value(id).constant) return false;
  const std::size_t rank = graph.value(id).constant->shape().size();
  return rank >= least && rank <= most;
}

// One factor for all, or one per column.
bool scales_columns(const Graph& graph, ValueId scale, ValueId product) {
  const Value& value = graph.value(scale);
  if (value.dtype != DataType::f32 || !value.shape) return false;
  if (concord::product(*value.shape).is_constant(1)) return true;
  const auto n = extent(graph, product, -1);
  return value.shape->size() == 1 && n && value.shape->back() == *n;
}

// The sums of integers that become floats again: cast, scale, then what may follow a product.
bool fuse(Rewriter& rw, NodeId id) {
  const Graph& graph = rw.graph();
  const Node& integer = rw.node(id);
  if (integer.has_input(kScale) || !constant_of_rank(graph, integer.input(kWeights), 2, 2)) {
    return false;
  }
  if (integer.has_input(kWeightsZero) &&
      !constant_of_rank(graph, integer.input(kWeightsZero), 0, 1)) {
    return false;
  }
  ProductEpilogue product(rw, id, kBias, kResidual);
  const NodeId cast = product.next(false);
  if (!cast.valid() || rw.node(cast).op != OpKind::cast ||
      rw.node(cast).attrs.dtype("to") != DataType::f32) {
    return false;
  }
  product.take(cast);
  const NodeId scaling = product.next();
  if (!scaling.valid() || !is_binary(&rw.node(scaling), BinaryFn::mul)) return false;
  const ValueId sums = rw.node(cast).output();
  const ValueId scale = other_input(rw.node(scaling), sums);
  if (scale == sums || !scales_columns(graph, scale, sums)) return false;
  product.node.inputs[kScale] = scale;
  product.take(scaling);
  while (true) {
    const NodeId user = product.next();
    if (!user.valid() || !product.absorb(user)) return product.finish();
  }
}

}  // namespace

int fuse_matmul_integer(Graph& graph, const PassOptions&) {
  Rewriter rw(graph);
  int found = 0;
  for (const NodeId id : rw.order()) {
    if (rw.node(id).removed || rw.node(id).op != OpKind::matmul_integer) continue;
    if (fuse(rw, id)) ++found;
  }
  return found;
}

}  // namespace concord::graph
