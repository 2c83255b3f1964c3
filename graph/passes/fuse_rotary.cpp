#include <algorithm>

#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

// x[…, begin : end] along the last axis, from a slice or one output of a split.
struct Part {
  ValueId x;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  NodeId node;
};

std::optional<Part> part(const Rewriter& rw, ValueId id) {
  const Node* node = rw.producer(id);
  if (node == nullptr) return std::nullopt;
  const auto rank = rank_of(rw.graph(), node->input(0));
  const auto width = extent(rw.graph(), node->input(0), -1);
  const auto size = width ? width->constant() : std::nullopt;
  if (!rank || !size) return std::nullopt;
  if (node->op == OpKind::slice) {
    if (!node->attrs.has("starts")) return std::nullopt;
    const auto& axes = node->attrs.integers("axes");
    if (axes.size() != 1 || axes[0] != *rank - 1 || node->attrs.integers("steps")[0] != 1) {
      return std::nullopt;
    }
    const auto begin = node->attrs.dims("starts")[0].constant();
    const auto end = node->attrs.dims("ends")[0].constant();
    if (!begin || !end) return std::nullopt;
    const auto from_front = [&](std::int64_t v) {
      return std::clamp<std::int64_t>(v < 0 ? v + *size : v, 0, *size);
    };
    return Part{node->input(0), from_front(*begin), from_front(*end), rw.producer_id(id)};
  }
  if (node->op == OpKind::split && node->attrs.integer("axis") == *rank - 1 &&
      node->attrs.has("sizes")) {
    std::int64_t begin = 0;
    for (std::size_t o = 0; o < node->outputs.size(); ++o) {
      const auto n = node->attrs.dims("sizes")[o].constant();
      if (!n) return std::nullopt;
      if (node->outputs[o] == id) {
        return Part{node->input(0), begin, begin + *n, rw.producer_id(id)};
      }
      begin += *n;
    }
  }
  return std::nullopt;
}

// concat(−x[…, h:], x[…, :h]): x, the nodes, and the width 2h.
struct Rotated {
  ValueId x;
  std::int64_t width = 0;
  std::vector<NodeId> nodes;
};

std::optional<Rotated> rotated_half(const Rewriter& rw, ValueId id) {
  const Node* concat = rw.producer(id, OpKind::concat);
  if (concat == nullptr || concat->inputs.size() != 2) return std::nullopt;
  const auto rank = rank_of(rw.graph(), id);
  if (!rank || concat->attrs.integer("axis") != *rank - 1) return std::nullopt;
  const Node* neg = unary_producer(rw, concat->input(0), UnaryFn::neg);
  if (neg == nullptr) return std::nullopt;
  const auto back = part(rw, neg->input(0));
  const auto front = part(rw, concat->input(1));
  if (!back || !front || back->x != front->x) return std::nullopt;
  const std::int64_t half = front->end;
  const auto width = extent(rw.graph(), front->x, -1);
  if (front->begin != 0 || back->begin != half || back->end != 2 * half ||
      !width->is_constant(2 * half)) {
    return std::nullopt;
  }
  return Rotated{front->x,
                 2 * half,
                 {rw.producer_id(id), rw.producer_id(concat->input(0)), front->node, back->node}};
}

// The table of cosines or sines as [B|1, S, r], from one that broadcasts over the heads.
ValueId table(Rewriter& rw, ValueId id, bool heads_first, const Node& origin, NodeId before) {
  const auto shape = rw.value(id).shape;
  if (!shape) return {};
  SymShape wanted;
  if (shape->size() == 4) {
    if (!(*shape)[heads_first ? 1 : 2].is_constant(1)) return {};
    wanted = {(*shape)[0], (*shape)[heads_first ? 2 : 1], (*shape)[3]};
  } else if (shape->size() == 2 && heads_first) {
    wanted = {Dim(1), (*shape)[0], (*shape)[1]};
  } else if (shape->size() == 3 && heads_first && (*shape)[0].is_constant(1)) {
    return id;
  } else {
    return {};
  }
  const Node* view = rw.producer(id, OpKind::reshape);
  if (view != nullptr && view->inputs.size() == 1 && rw.value(view->input(0)).shape == wanted) {
    return view->input(0);
  }
  return rw.insert(OpKind::reshape, {id},
                   Attributes{{"shape", wanted}, {"allow_zero", std::int64_t{1}}}, origin, before);
}

bool heads_first(const SymShape& x, const std::optional<SymShape>& table_shape) {
  if (!table_shape) return true;
  if (table_shape->size() != 4) return true;
  // [B, 1, S, D] goes with [B, H, S, D]; [B, S, 1, D] with [B, S, H, D].
  if ((*table_shape)[1].is_constant(1) && (*table_shape)[2] == x[2]) return true;
  return !((*table_shape)[2].is_constant(1) && (*table_shape)[1] == x[1]);
}

// Rotating before the heads move lets the attention take both layouts as they are: rotary(bhsd) of
// transpose(x) becomes the transpose of rotary(bshd) of x. `root` gives the result.
bool rotate_before_transpose(Rewriter& rw, NodeId root, Node rotary, std::vector<NodeId> absorbed) {
  const ValueId x = rotary.inputs[0];
  const Node* transpose = rw.producer(x, OpKind::transpose);
  const std::vector<std::int64_t> swap{0, 2, 1, 3};
  if (rotary.attrs.text("layout") != "bhsd" || transpose == nullptr ||
      transpose->attrs.integers("perm") != swap) {
    return false;
  }
  const Node origin = rw.node(root);
  rotary.inputs[0] = transpose->input(0);
  rotary.attrs.set("layout", std::string("bshd"));
  rotary.name = origin.name;
  rotary.source_op = origin.source_op;
  rotary.sources = origin.sources;
  absorbed.push_back(rw.producer_id(x));
  for (const NodeId n : absorbed) add_sources(rotary, rw.node(n));
  rotary.outputs = {rw.add_value({}, DataType::undefined, std::nullopt)};
  const ValueId y = rotary.outputs[0];
  const std::optional<Equivalence> old = rw.value(origin.output()).equals;
  rw.insert(std::move(rotary), root);
  if (old && old->perm.empty() && !old->reshaped) {
    rw.graph().value(y).equals = Equivalence{old->imported, swap, false};
  }
  Node back;
  back.op = OpKind::transpose;
  back.inputs = {y};
  back.attrs.set("perm", swap);
  rw.replace(root, std::move(back), absorbed);
  return true;
}

bool fuse(Rewriter& rw, NodeId id) {
  const Node& add = rw.node(id);
  if (!is_binary(&add, BinaryFn::add) || !is_float(rw.value(add.output()).dtype)) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* straight = binary_producer(rw, add.input(side), BinaryFn::mul);
    const Node* turned = binary_producer(rw, add.input(1 - side), BinaryFn::mul);
    if (straight == nullptr || turned == nullptr) return false;
    std::optional<Rotated> rotated;
    ValueId sin;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      rotated = rotated_half(rw, turned->input(i));
      sin = turned->input(1 - i);
      if (rotated) break;
    }
    if (!rotated) continue;
    const ValueId x = rotated->x;
    if (straight->input(0) != x && straight->input(1) != x) continue;
    const ValueId cos = other_input(*straight, x);
    const auto shape = rw.value(x).shape;
    if (!shape || shape->size() != 4 || !same_shape(rw.graph(), x, add.output()) ||
        rw.value(cos).shape != rw.value(sin).shape || rw.value(cos).dtype != rw.value(x).dtype ||
        extent(rw.graph(), cos, -1) != Dim(rotated->width)) {
      continue;
    }
    const bool bhsd = heads_first(*shape, rw.value(cos).shape);
    std::vector<NodeId> absorbed = rotated->nodes;
    absorbed.push_back(rw.producer_id(add.input(0)));
    absorbed.push_back(rw.producer_id(add.input(1)));
    const Node origin = add;
    const ValueId cos_table = table(rw, cos, bhsd, origin, id);
    const ValueId sin_table = cos_table.valid() ? table(rw, sin, bhsd, origin, id) : ValueId{};
    if (!sin_table.valid()) continue;
    Node rotary;
    rotary.op = OpKind::rotary;
    rotary.inputs = {x, cos_table, sin_table};
    rotary.attrs = Attributes{{"layout", std::string(bhsd ? "bhsd" : "bshd")},
                              {"rotary_dim", std::int64_t{0}},
                              {"interleaved", std::int64_t{0}}};
    if (!rotate_before_transpose(rw, id, rotary, absorbed)) {
      rw.replace(id, std::move(rotary), absorbed);
    }
    return true;
  }
  return false;
}

// concat(rotary(x[…, :r]), x[…, r:]): only the first r elements of each head are rotated.
bool fuse_partial(Rewriter& rw, NodeId id) {
  const Node& concat = rw.node(id);
  if (concat.op != OpKind::concat || concat.inputs.size() != 2) return false;
  const auto rank = rank_of(rw.graph(), concat.output());
  if (rank != 4 || concat.attrs.integer("axis") != 3) return false;
  // Both parts may be transposed in the same way.
  ValueId left = concat.input(0);
  ValueId right = concat.input(1);
  std::vector<NodeId> absorbed;
  std::vector<std::int64_t> perm;
  const Node* a = rw.producer(left, OpKind::transpose);
  const Node* b = rw.producer(right, OpKind::transpose);
  if (a != nullptr && b != nullptr && a->attrs.integers("perm") == b->attrs.integers("perm") &&
      a->attrs.integers("perm").back() == 3) {
    perm = a->attrs.integers("perm");
    absorbed = {rw.producer_id(left), rw.producer_id(right)};
    if (!rw.single_use(left)) return false;
    left = a->input(0);
    right = b->input(0);
  }
  const Node* rotary = rw.producer(left, OpKind::rotary);
  if (rotary == nullptr || !rw.single_use(left)) return false;
  const auto first = part(rw, rotary->input(0));
  const auto rest = part(rw, right);
  if (!first || !rest || first->x != rest->x || first->begin != 0 || rest->begin != first->end ||
      extent(rw.graph(), first->x, -1) != Dim(rest->end)) {
    return false;
  }
  absorbed.insert(absorbed.end(), {rw.producer_id(left), first->node, rest->node});
  Node whole = *rotary;
  whole.outputs.clear();
  whole.inputs[0] = first->x;
  whole.attrs.set("rotary_dim", first->end);
  if (perm.empty()) {
    rw.replace(id, std::move(whole), absorbed);
    return true;
  }
  for (const NodeId n : absorbed) add_sources(whole, rw.node(n));
  add_sources(whole, concat);
  whole.outputs = {rw.add_value({}, DataType::undefined, std::nullopt)};
  const ValueId y = whole.outputs[0];
  rw.insert(std::move(whole), id);
  Node back;
  back.op = OpKind::transpose;
  back.inputs = {y};
  back.attrs.set("perm", perm);
  rw.replace(id, std::move(back), absorbed);
  return true;
}

}  // namespace

int fuse_rotary(Graph& graph, const PassOptions&) {
  Rewriter rw(graph);
  int found = 0;
  for (const NodeId id : rw.order()) {
    if (rw.node(id).removed) continue;
    if (rw.node(id).op == OpKind::rotary) {
      found += rotate_before_transpose(rw, id, rw.node(id), {}) ? 1 : 0;
    } else if (fuse(rw, id)) {
      ++found;
    }
  }
  for (const NodeId id : rw.order()) {
    if (!rw.node(id).removed && fuse_partial(rw, id)) ++found;
  }
  return found;
}

}  // namespace concord::graph
