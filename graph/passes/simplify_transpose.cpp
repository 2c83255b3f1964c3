#include <algorithm>

#include "graph/passes/simplify.h"

// Transposes sink through what they commute with, until they meet another one that undoes them, or
// an attention that takes either layout.
namespace concord::graph {
namespace {

using Perm = std::vector<std::int64_t>;
using Groups = std::vector<std::vector<std::int64_t>>;

// Axes of a reshape's input that each axis of its output is made of, if it only merges neighbours
// (or splits them, with the roles of input and output swapped).
std::optional<Groups> merged_axes(const SymShape& from, const SymShape& to) {
  Groups groups;
  std::size_t at = 0;
  for (const Dim& d : to) {
    std::vector<std::int64_t> group;
    Dim size(1);
    while (at < from.size() && (group.empty() || !(size == d))) {
      size = size * from[at];
      group.push_back(static_cast<std::int64_t>(at++));
      if (size.is_constant(0)) return std::nullopt;
    }
    if (!(size == d) || group.empty()) return std::nullopt;
    groups.push_back(std::move(group));
  }
  // Axes of extent 1 left over belong to the last group.
  while (at < from.size() && from[at].is_constant(1) && !groups.empty()) {
    groups.back().push_back(static_cast<std::int64_t>(at++));
  }
  if (at != from.size()) return std::nullopt;
  return groups;
}

Perm inverse(const Perm& perm) {
  Perm result(perm.size());
  for (std::size_t k = 0; k < perm.size(); ++k) {
    result[static_cast<std::size_t>(perm[k])] = static_cast<std::int64_t>(k);
  }
  return result;
}

// The node becomes a transpose of `from`.
void becomes_transpose(Rewriter& rw, NodeId id, ValueId from, Perm perm,
                       const std::vector<NodeId>& absorbed) {
  Node transpose;
  transpose.op = OpKind::transpose;
  transpose.inputs = {from};
  transpose.attrs.set("perm", std::move(perm));
  rw.replace(id, std::move(transpose), absorbed);
}

// A value that is the node's own, transposed back by `perm`.
void remember(Rewriter& rw, ValueId moved, ValueId result, const Perm& perm) {
  const auto& equals = rw.value(result).equals;
  if (!equals || !equals->perm.empty() || equals->reshaped) return;
  rw.graph().value(moved).equals = Equivalence{equals->imported, perm, false};
}

Attributes reshape_to(SymShape shape) {
  return Attributes{{"shape", std::move(shape)}, {"allow_zero", std::int64_t{1}}};
}

// reshape(transpose(x)) that splits axes: they are split before the transpose.
bool sink_below_split(Rewriter& rw, NodeId id, const Node& transpose) {
  const Node& reshape = rw.node(id);
  const auto& transposed = rw.value(reshape.input(0)).shape;
  const auto& result = rw.value(reshape.output()).shape;
  if (!transposed || !result || result->size() <= transposed->size()) return false;
  const auto groups = merged_axes(*result, *transposed);
  if (!groups) return false;
  // Axes of extent 1 alone are no split: they are there to be broadcast.
  const auto wide = [](const SymShape& shape) {
    return std::count_if(shape.begin(), shape.end(),
                         [](const Dim& d) { return !d.is_constant(1); });
  };
  if (wide(*result) == wide(*transposed)) return false;
  SymShape before;
  Perm perm(result->size());
  for (const std::int64_t k : inverse(transpose.attrs.integers("perm"))) {
    for (const std::int64_t axis : (*groups)[static_cast<std::size_t>(k)]) {
      perm[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(before.size());
      before.push_back((*result)[static_cast<std::size_t>(axis)]);
    }
  }
  const Node origin = reshape;
  const NodeId upper = rw.producer_id(origin.input(0));
  const ValueId from =
      rw.insert(OpKind::reshape, {transpose.input(0)}, reshape_to(before), origin, id);
  remember(rw, from, origin.output(), inverse(perm));
  becomes_transpose(rw, id, from, std::move(perm), {upper});
  return true;
}

// reshape(transpose(x)) that merges axes which are neighbours in x too.
bool sink_below_merge(Rewriter& rw, NodeId id, const Node& transpose) {
  const Node& reshape = rw.node(id);
  const auto& transposed = rw.value(reshape.input(0)).shape;
  const auto& result = rw.value(reshape.output()).shape;
  if (!transposed || !result || result->size() >= transposed->size()) return false;
  const auto groups = merged_axes(*transposed, *result);
  if (!groups) return false;
  const Perm& perm = transpose.attrs.integers("perm");
  std::vector<std::pair<std::int64_t, std::int64_t>> starts;  // first axis in x, axis of the result
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const auto& group = (*groups)[g];
    const std::int64_t first = perm[static_cast<std::size_t>(group[0])];
    for (std::size_t k = 1; k < group.size(); ++k) {
      if (perm[static_cast<std::size_t>(group[k])] != first + static_cast<std::int64_t>(k)) {
        return false;
      }
    }
    starts.emplace_back(first, static_cast<std::int64_t>(g));
  }
  std::sort(starts.begin(), starts.end());
  SymShape before;
  Perm reduced(starts.size());
  for (std::size_t k = 0; k < starts.size(); ++k) {
    before.push_back((*result)[static_cast<std::size_t>(starts[k].second)]);
    reduced[static_cast<std::size_t>(starts[k].second)] = static_cast<std::int64_t>(k);
  }
  const Node origin = reshape;
  const NodeId upper = rw.producer_id(origin.input(0));
  const ValueId from =
      rw.insert(OpKind::reshape, {transpose.input(0)}, reshape_to(before), origin, id);
  remember(rw, from, origin.output(), inverse(reduced));
  becomes_transpose(rw, id, from, std::move(reduced), {upper});
  return true;
}

// A product with one weight does not care for the order of the axes before the last.
bool takes_any_lead(const Rewriter& rw, const Node& node, ValueId operand) {
  if (node.op != OpKind::matmul || node.input(0) != operand || node.input(1) == operand) {
    return false;
  }
  if (rank_of(rw.graph(), node.input(1)) != 2 || node.has_input(3)) return false;
  if (node.attrs.integer("trans_a", 0) != 0) return false;
  return !node.has_input(2) || rank_of(rw.graph(), node.input(2)).value_or(9) <= 1;
}

bool sinks(const Rewriter& rw, const Node& node, ValueId operand) {
  return takes_any_lead(rw, node, operand) ||
         (node.op == OpKind::slice && node.attrs.has("starts"));
}

bool keeps_last(const Perm& perm) {
  return !perm.empty() && perm.back() == static_cast<std::int64_t>(perm.size()) - 1;
}

bool all_users_sink(Rewriter& rw, ValueId operand) {
  if (rw.is_output(operand)) return false;
  for (const NodeId user : rw.users(operand)) {
    if (!sinks(rw, rw.node(user), operand)) return false;
  }
  return true;
}

bool sink_below(Rewriter& rw, NodeId id, const Perm& perm, ValueId from, std::size_t at) {
  const Node origin = rw.node(id);
  const NodeId upper = rw.producer_id(origin.input(at));
  std::vector<ValueId> inputs = origin.inputs;
  inputs[at] = from;
  Attributes attrs = origin.attrs;
  if (origin.op == OpKind::slice) {
    std::vector<std::int64_t> axes = attrs.integers("axes");
    for (std::int64_t& a : axes) a = perm[static_cast<std::size_t>(a)];
    attrs.set("axes", std::move(axes));
  }
  const ValueId moved = rw.insert(origin.op, std::move(inputs), std::move(attrs), origin, id);
  remember(rw, moved, origin.output(), inverse(perm));
  becomes_transpose(rw, id, moved, perm, {upper});
  return true;
}

}  // namespace

bool simplify_transposed(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  switch (node.op) {
    case OpKind::reshape:
    case OpKind::matmul:
    case OpKind::slice:
    case OpKind::unary:
    case OpKind::binary:
      break;
    default:
      return false;
  }
  for (std::size_t at = 0; at < std::min<std::size_t>(2, node.inputs.size()); ++at) {
    const ValueId operand = node.input(at);
    const Node* upper = rw.producer(operand, OpKind::transpose);
    if (upper == nullptr) continue;
    const Node transpose = *upper;
    const Perm& perm = transpose.attrs.integers("perm");
    const ValueId from = transpose.input(0);
    switch (node.op) {
      case OpKind::reshape:
        if (node.inputs.size() != 1 || !rw.single_use(operand)) return false;
        return sink_below_split(rw, id, transpose) || sink_below_merge(rw, id, transpose);
      case OpKind::matmul:
      case OpKind::slice:
        if (!sinks(rw, node, operand) || !all_users_sink(rw, operand)) return false;
        if (node.op == OpKind::matmul && !keeps_last(perm)) return false;
        return sink_below(rw, id, perm, from, at);
      case OpKind::unary:
        return rw.single_use(operand) && sink_below(rw, id, perm, from, at);
      default: {
        const ValueId other = node.input(1 - at);
        const bool row = rw.value(other).is_constant() && keeps_last(perm) &&
                         rank_of(rw.graph(), other).value_or(9) <= 1;
        if (!rw.single_use(operand) || !same_shape(rw.graph(), operand, node.output()) ||
            (!row && !scalar_constant(rw.graph(), other))) {
          continue;
        }
        return sink_below(rw, id, perm, from, at);
      }
    }
  }
  return false;
}

}  // namespace concord::graph
