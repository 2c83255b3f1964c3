#include <algorithm>

#include "graph/passes/simplify.h"

// Transposes sink through what they commute with, until they meet another one that undoes them, or
// an attention that takes either layout.
namespace concord::graph {
namespace {

using Perm = std::vector<std::int64_t>;

// Neighbouring axes of a reshape's input that become neighbouring axes of its output, as few at a
// time as possible. Axes of extent 1 of the input are left out, those of the output belong to one.
struct Segment {
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
};

std::optional<std::vector<Segment>> segments(const SymShape& from, const SymShape& to) {
  std::vector<Segment> result;
  std::size_t i = 0;
  std::size_t k = 0;
  const auto next = [&](const SymShape& shape, std::size_t& at, Dim& size,
                        std::vector<std::int64_t>& axes) {
    if (at == shape.size()) return false;
    size = size * shape[at];
    axes.push_back(static_cast<std::int64_t>(at++));
    return true;
  };
  while (i < from.size() || k < to.size()) {
    if (i < from.size() && from[i].is_constant(1)) {
      ++i;
      continue;
    }
    Segment s;
    Dim a(1);
    Dim b(1);
    while (k < to.size() && to[k].is_constant(1)) next(to, k, b, s.to);
    if (i == from.size()) {
      // Only extents of 1 are left.
      if (k < to.size() || result.empty()) return std::nullopt;
      result.back().to.insert(result.back().to.end(), s.to.begin(), s.to.end());
      break;
    }
    if (!next(from, i, a, s.from) || !next(to, k, b, s.to)) return std::nullopt;
    while (!(a == b)) {
      if (a.is_constant(0) || b.is_constant(0)) return std::nullopt;
      // The side whose product the other one's is a multiple of is behind.
      if (Dim::exact_div(b, a)) {
        if (!next(from, i, a, s.from)) return std::nullopt;
      } else if (Dim::exact_div(a, b)) {
        if (!next(to, k, b, s.to)) return std::nullopt;
      } else {
        return std::nullopt;
      }
    }
    std::erase_if(s.from, [&](std::int64_t axis) {
      return from[static_cast<std::size_t>(axis)].is_constant(1);
    });
    result.push_back(std::move(s));
  }
  if (result.empty()) return std::nullopt;
  return result;
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

// reshape(transpose(x)) that joins and splits only axes which are neighbours in x too: x is
// reshaped, then transposed.
bool sink_below_reshape(Rewriter& rw, NodeId id, const Node& transpose) {
  const Node& reshape = rw.node(id);
  const auto& transposed = rw.value(reshape.input(0)).shape;
  const auto& result = rw.value(reshape.output()).shape;
  if (!transposed || !result) return false;
  auto parts = segments(*transposed, *result);
  if (!parts) return false;
  const Perm& perm = transpose.attrs.integers("perm");
  const auto source = [&](std::int64_t axis) { return perm[static_cast<std::size_t>(axis)]; };
  bool moves = false;
  for (const Segment& s : *parts) {
    moves = moves || s.from.size() > 1 || s.to.size() > 1;
    for (std::size_t k = 1; k < s.from.size(); ++k) {
      // Neighbours in x, but for axes of extent 1 between.
      for (std::int64_t at = source(s.from[k - 1]) + 1; at != source(s.from[k]); ++at) {
        if (at >= static_cast<std::int64_t>(perm.size())) return false;
        const auto place = std::find(perm.begin(), perm.end(), at) - perm.begin();
        if (!(*transposed)[static_cast<std::size_t>(place)].is_constant(1)) return false;
      }
    }
  }
  // Axes of extent 1 alone are there to be broadcast (or to be moved again).
  const auto wide = [](const SymShape& shape) {
    return std::count_if(shape.begin(), shape.end(),
                         [](const Dim& d) { return !d.is_constant(1); });
  };
  if (wide(*result) == wide(*transposed) && result->size() >= transposed->size()) {
    const NodeId user = rw.only_user(reshape.output());
    if (!user.valid() || rw.node(user).op != OpKind::transpose) return false;
  }
  if (!moves && result->size() == transposed->size()) return false;
  std::sort(parts->begin(), parts->end(), [&](const Segment& a, const Segment& b) {
    return source(a.from.front()) < source(b.from.front());
  });
  SymShape before;
  Perm moved(result->size());
  for (const Segment& s : *parts) {
    for (const std::int64_t axis : s.to) {
      moved[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(before.size());
      before.push_back((*result)[static_cast<std::size_t>(axis)]);
    }
  }
  const Node origin = reshape;
  const NodeId upper = rw.producer_id(origin.input(0));
  const ValueId from =
      rw.insert(OpKind::reshape, {transpose.input(0)}, reshape_to(before), origin, id);
  remember(rw, from, origin.output(), inverse(moved));
  becomes_transpose(rw, id, from, std::move(moved), {upper});
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
  constexpr int many = 32;  // each of them would ask again
  if (rw.is_output(operand) || rw.uses(operand) > many) return false;
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
        return sink_below_reshape(rw, id, transpose);
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
