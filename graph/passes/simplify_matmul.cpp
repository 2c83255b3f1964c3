#include <algorithm>

#include "graph/passes/simplify.h"

// Exporters flatten batch axes before a product with one weight and unfold them behind it, and
// elementwise work may stand between. Moved behind the work, the reshapes meet and vanish.
namespace concord::graph {
namespace {

// A reshape of the leading axes only: the last one stays.
const Node* leading_reshape(const Rewriter& rw, ValueId id) {
  const Node* reshape = rw.producer(id, OpKind::reshape);
  if (reshape == nullptr || reshape->inputs.size() != 1) return nullptr;
  const auto& from = rw.value(reshape->input(0)).shape;
  const auto& to = rw.value(id).shape;
  if (!from || !to || from->empty() || to->empty()) return nullptr;
  return from->back() == to->back() ? reshape : nullptr;
}

// The node's value is the reshape of what the moved node, with `from` as operand `at`, computes.
bool move_behind(Rewriter& rw, NodeId id, std::size_t at, ValueId from) {
  const Node origin = rw.node(id);
  const auto shape = rw.value(origin.output()).shape;
  if (!shape) return false;
  std::vector<ValueId> inputs = origin.inputs;
  inputs[at] = from;
  const ValueId moved = rw.insert(origin.op, std::move(inputs), origin.attrs, origin, id);
  if (const auto& equals = rw.value(origin.output()).equals; equals && equals->perm.empty()) {
    rw.graph().value(moved).equals = Equivalence{equals->imported, {}, true};
  }
  Node reshape;
  reshape.op = OpKind::reshape;
  reshape.inputs = {moved};
  reshape.attrs = Attributes{{"shape", *shape}, {"allow_zero", std::int64_t{1}}};
  rw.replace(id, std::move(reshape), {});
  return true;
}

bool move_product(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  const Node* reshape = leading_reshape(rw, node.input(0));
  if (reshape == nullptr || node.attrs.integer("trans_a", 0) != 0 || node.has_input(3))
    return false;
  const ValueId from = reshape->input(0);
  if (rank_of(rw.graph(), node.input(0)) != 2 || rank_of(rw.graph(), node.input(1)) != 2 ||
      *rank_of(rw.graph(), from) <= 2) {
    return false;
  }
  if (node.has_input(2)) {
    const auto& bias = rw.value(node.input(2)).shape;
    if (!bias || (bias->size() > 1 && !(*bias)[bias->size() - 2].is_constant(1))) return false;
  }
  return move_behind(rw, id, 0, from);
}

bool move_unary(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  const Node* reshape = leading_reshape(rw, node.input(0));
  // Only where it comes from a product, lest reshapes wander for nothing.
  if (reshape == nullptr || !rw.single_use(node.input(0))) return false;
  if (rw.producer(reshape->input(0), OpKind::matmul) == nullptr) return false;
  return move_behind(rw, id, 0, reshape->input(0));
}

bool move_binary(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
    const ValueId other = node.input(1 - at);
    const Node* reshape = leading_reshape(rw, node.input(at));
    if (reshape == nullptr || !rw.single_use(node.input(at)) || !rw.value(other).is_constant()) {
      continue;
    }
    if (rw.producer(reshape->input(0), OpKind::matmul) == nullptr) continue;
    const auto& shape = rw.value(other).shape;
    if (!shape || shape->size() > 1 || !same_shape(rw.graph(), node.input(at), node.output())) {
      continue;
    }
    return move_behind(rw, id, at, reshape->input(0));
  }
  return false;
}

// reshape(a · b) that splits the leading axis, where a has only that one beside its last: the split
// moves to a (and to b, if b is not one weight for all).
bool split_operands(Rewriter& rw, NodeId id) {
  const Node& reshape = rw.node(id);
  const Node* product = rw.producer(reshape.input(0), OpKind::matmul);
  if (reshape.inputs.size() != 1 || product == nullptr || !rw.single_use(reshape.input(0)) ||
      product->has_input(3) || product->attrs.integer("trans_a", 0) != 0) {
    return false;
  }
  const auto flat = rw.value(reshape.input(0)).shape;
  const auto split = rw.value(reshape.output()).shape;
  const auto a = rw.value(product->input(0)).shape;
  const auto b = rw.value(product->input(1)).shape;
  if (!flat || !split || !a || !b || a->size() != flat->size() || split->size() <= flat->size() ||
      !(split->back() == flat->back())) {
    return false;
  }
  if (product->has_input(2) && rank_of(rw.graph(), product->input(2)).value_or(9) > 1) {
    return false;
  }
  const bool weight = flat->size() == 2 && b->size() == 2;
  const bool batched = flat->size() == 3 && b->size() == 3 && (*a)[0] == (*b)[0] &&
                       (*flat)[1] == (*split)[split->size() - 2];
  if (!weight && !batched) return false;
  const std::size_t kept = weight ? 1 : 2;
  const auto unfolded = [&](const SymShape& shape) {
    SymShape result(split->begin(), split->end() - static_cast<std::ptrdiff_t>(kept));
    result.insert(result.end(), shape.end() - static_cast<std::ptrdiff_t>(kept), shape.end());
    return result;
  };
  const Node origin = *product;
  const NodeId product_id = rw.producer_id(reshape.input(0));
  Node moved = origin;
  moved.outputs.clear();
  moved.inputs[0] =
      rw.insert(OpKind::reshape, {origin.input(0)},
                Attributes{{"shape", unfolded(*a)}, {"allow_zero", std::int64_t{1}}}, origin, id);
  if (batched) {
    moved.inputs[1] =
        rw.insert(OpKind::reshape, {origin.input(1)},
                  Attributes{{"shape", unfolded(*b)}, {"allow_zero", std::int64_t{1}}}, origin, id);
  }
  rw.replace(id, std::move(moved), {product_id});
  return true;
}

// Whether additions and factors of the value's own shape lead to a product.
bool leads_to_product(const Rewriter& rw, ValueId id, int depth) {
  const Node* node = rw.producer(id);
  if (node == nullptr || depth == 0 || !rw.single_use(id)) return false;
  if (node->op == OpKind::matmul) return true;
  if (node->op != OpKind::binary) return false;
  for (const ValueId input : node->inputs) {
    if (same_shape(rw.graph(), input, id) && leads_to_product(rw, input, depth - 1)) return true;
  }
  return false;
}

// reshape(a + b) that splits the leading axis of scores: the operands are split, so that the
// reshape meets the product behind them.
bool split_sum(Rewriter& rw, NodeId id) {
  const Node& reshape = rw.node(id);
  const ValueId sum = reshape.input(0);
  const Node* node = rw.producer(sum, OpKind::binary);
  const auto from = rw.value(sum).shape;
  const auto to = rw.value(reshape.output()).shape;
  if (node == nullptr || reshape.inputs.size() != 1 || !from || !to || from->size() != 3 ||
      to->size() != 4 || !((*from)[1] == (*to)[2]) || !((*from)[2] == (*to)[3]) ||
      !leads_to_product(rw, sum, 4)) {
    return false;
  }
  for (const ValueId input : node->inputs) {
    if (!same_shape(rw.graph(), input, sum) && !scalar_constant(rw.graph(), input)) return false;
  }
  const Node origin = *node;
  const NodeId sum_id = rw.producer_id(sum);
  Node moved = origin;
  moved.outputs.clear();
  for (ValueId& input : moved.inputs) {
    if (!same_shape(rw.graph(), input, sum)) continue;
    input = rw.insert(OpKind::reshape, {input},
                      Attributes{{"shape", *to}, {"allow_zero", std::int64_t{1}}}, origin, id);
  }
  rw.replace(id, std::move(moved), {sum_id});
  return true;
}

// reshape(x · s) becomes reshape(x) · s, next to the attention or product that takes the scalar in.
bool move_scale(Rewriter& rw, NodeId id) {
  const Node& reshape = rw.node(id);
  const Node* scale = rw.producer(reshape.input(0));
  if (reshape.inputs.size() != 1 || scale == nullptr || !rw.single_use(reshape.input(0)))
    return false;
  const auto scaled = scaled_by(rw.graph(), *scale);
  if (!scaled || scale->op != OpKind::binary || !is_float(rw.value(reshape.output()).dtype)) {
    return false;
  }
  const Node origin = *scale;
  const NodeId scale_id = rw.producer_id(reshape.input(0));
  const auto shape = rw.value(reshape.output()).shape;
  const auto& from = rw.value(scaled->base).shape;
  // Those that keep the last axis move the other way.
  if (!shape || !from || from->empty() || shape->empty() || from->back() == shape->back()) {
    return false;
  }
  for (const ValueId input : origin.inputs) {
    if (input != scaled->base && rank_of(rw.graph(), input) > shape->size()) return false;
  }
  const ValueId view =
      rw.insert(OpKind::reshape, {scaled->base},
                Attributes{{"shape", *shape}, {"allow_zero", std::int64_t{1}}}, origin, id);
  Node moved = origin;
  moved.outputs.clear();
  std::replace(moved.inputs.begin(), moved.inputs.end(), scaled->base, view);
  rw.replace(id, std::move(moved), {scale_id});
  return true;
}

}  // namespace

bool simplify_matmul(Rewriter& rw, NodeId id) {
  switch (rw.node(id).op) {
    case OpKind::matmul:
      return move_product(rw, id);
    case OpKind::reshape:
      return split_operands(rw, id) || move_scale(rw, id) || split_sum(rw, id);
    case OpKind::unary:
      return move_unary(rw, id);
    case OpKind::binary:
      return move_binary(rw, id);
    default:
      return false;
  }
}

}  // namespace concord::graph
