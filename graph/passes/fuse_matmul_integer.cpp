#include "graph/passes/list.h"
#include "graph/passes/product_epilogue.h"

namespace concord::graph {
namespace {

enum : std::size_t {
  kWeights = 1,
  kZero = 2,
  kWeightsZero = 3,
  kScale = 4,
  kBias = 5,
  kResidual = 6
};

bool is_single(const Graph& graph, ValueId id) {
  return !id.valid() || (graph.value(id).shape && product(*graph.value(id).shape).is_constant(1));
}

// Weights, or an operand of the run with one zero point: what backends multiply and scale at once.
bool has_weights(const Graph& graph, const Node& integer) {
  const auto& weights = graph.value(integer.input(kWeights)).constant;
  if (!weights || weights->rank() != 2) return false;
  if (!integer.has_input(kWeightsZero)) return true;
  const auto& zero = graph.value(integer.input(kWeightsZero)).constant;
  return zero && zero->rank() <= 1;
}

// One factor for all, or one per column.
bool scales_columns(const Graph& graph, ValueId scale, ValueId product) {
  const Value& value = graph.value(scale);
  if (value.dtype != DataType::f32 || !value.shape) return false;
  if (concord::product(*value.shape).is_constant(1)) return true;
  const auto n = extent(graph, product, -1);
  return value.shape->size() == 1 && n && value.shape->back() == *n;
}

// Weights [n] or [1, n] added to the sums, which stand for that many times the scale.
std::optional<Tensor> scaled_bias(const Graph& graph, ValueId bias, ValueId scale, ValueId sums) {
  const auto& integers = graph.value(bias).constant;
  const auto& factors = graph.value(scale).constant;
  const auto n = extent(graph, sums, -1);
  if (!integers || !factors || integers->dtype() != DataType::i32 || !n) return std::nullopt;
  if (integers->rank() == 0 || integers->shape().back() != integers->count() ||
      !n->is_constant(integers->count())) {
    return std::nullopt;
  }
  Tensor scaled(DataType::f32, {integers->count()});
  for (std::int64_t i = 0; i < integers->count(); ++i) {
    const double factor = factors->at_double(factors->count() == 1 ? 0 : i);
    scaled.as_mutable<float>()[static_cast<std::size_t>(i)] =
        static_cast<float>(static_cast<double>(integers->at_int(i)) * factor);
  }
  return scaled;
}

class Fuser {
 public:
  Fuser(Rewriter& rw, NodeId id) : rw_(rw), product_(rw, id, kBias, kResidual) {}

  bool run() {
    if (!product_.node.inputs[kScale].valid() && !scale()) return false;
    while (true) {
      const NodeId user = product_.next();
      if (!user.valid() || !product_.absorb(user)) return product_.finish();
    }
  }

 private:
  // The sums of integers, perhaps with integers added, that become floats again: cast, scale.
  bool scale() {
    const Graph& graph = rw_.graph();
    const bool weights = has_weights(graph, product_.node);
    if (!weights && !(is_single(graph, product_.node.inputs[kZero]) &&
                      is_single(graph, product_.node.inputs[kWeightsZero]))) {
      return false;
    }
    ValueId bias;
    NodeId cast = product_.next(false);
    if (cast.valid() && is_binary(&rw_.node(cast), BinaryFn::add)) {
      bias = other_input(rw_.node(cast), rw_.node(product_.root()).output());
      product_.take(cast);
      cast = product_.next(false);
    }
    if (!cast.valid() || rw_.node(cast).op != OpKind::cast ||
        rw_.node(cast).attrs.dtype("to") != DataType::f32) {
      return false;
    }
    product_.take(cast);
    const NodeId scaling = product_.next();
    if (!scaling.valid() || !is_binary(&rw_.node(scaling), BinaryFn::mul)) return false;
    const ValueId sums = rw_.node(cast).output();
    const ValueId factor = other_input(rw_.node(scaling), sums);
    if (factor == sums || !scales_columns(graph, factor, sums)) return false;
    if (!weights && !is_single(graph, factor)) return false;
    if (bias.valid()) {
      const auto scaled = scaled_bias(graph, bias, factor, sums);
      if (!scaled) return false;
      product_.node.inputs[kBias] = rw_.add_constant(rw_.value(bias).name, *scaled);
    }
    product_.node.inputs[kScale] = factor;
    product_.take(scaling);
    return true;
  }

  Rewriter& rw_;
  ProductEpilogue product_;
};

}  // namespace

int fuse_matmul_integer(Graph& graph, const PassOptions& options) {
  if (!options.quantised_products) return 0;
  return rewrite_each(graph, [](Rewriter& rw, NodeId id) {
    return rw.node(id).op == OpKind::matmul_integer && Fuser(rw, id).run();
  });
}

}  // namespace concord::graph
