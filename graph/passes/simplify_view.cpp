#include <algorithm>
#include <limits>

#include "graph/passes/simplify.h"

namespace concord::graph {
namespace {

using Perm = std::vector<std::int64_t>;

bool becomes_reshape(Rewriter& rw, NodeId id, ValueId from) {
  const Node& node = rw.node(id);
  const auto& shape = rw.value(node.output()).shape;
  if (!shape) return false;
  Node reshape;
  reshape.op = OpKind::reshape;
  reshape.inputs = {from};
  reshape.attrs.set("shape", *shape);
  reshape.attrs.set("allow_zero", std::int64_t{1});
  rw.replace(id, std::move(reshape), {});
  return true;
}

bool simplify_reshape(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  if (node.inputs.size() != 1) return false;
  const ValueId x = node.input(0);
  if (same_shape(rw.graph(), x, node.output())) return rw.bypass(id, x);
  const Node* before = rw.producer(x, OpKind::reshape);
  if (before != nullptr && before->inputs.size() == 1) {
    add_sources(rw.graph().node(id), *before);
    rw.set_input(id, 0, before->input(0));
    return true;
  }
  return false;
}

bool simplify_transpose(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  const Perm perm = node.attrs.integers("perm");
  const ValueId x = node.input(0);
  if (is_identity(perm)) return rw.bypass(id, x);
  if (const Node* before = rw.producer(x, OpKind::transpose)) {
    Perm both = compose(before->attrs.integers("perm"), perm);
    const ValueId origin = before->input(0);
    add_sources(rw.graph().node(id), *before);
    rw.graph().node(id).attrs.set("perm", std::move(both));
    rw.set_input(id, 0, origin);
    return true;
  }
  // Moving only axes of extent 1 keeps the memory as it is.
  const auto& shape = rw.value(x).shape;
  if (!shape) return false;
  std::int64_t last = -1;
  for (const std::int64_t p : perm) {
    if ((*shape)[static_cast<std::size_t>(p)].is_constant(1)) continue;
    if (p < last) return false;
    last = p;
  }
  return becomes_reshape(rw, id, x);
}

// Operands of broadcasting operators need not be repeated before.
bool broadcasts_by_itself(OpKind op) {
  return op == OpKind::binary || op == OpKind::select || op == OpKind::elementwise;
}

bool skip_repetition(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  if (!broadcasts_by_itself(node.op)) return false;
  const auto result = rw.value(node.output()).shape;
  if (!result) return false;
  bool any = false;
  for (std::size_t i = 0; i < rw.node(id).inputs.size(); ++i) {
    const ValueId operand = rw.node(id).input(i);
    const Node* source = rw.producer(operand);
    if (source == nullptr ||
        (source->op != OpKind::broadcast && source->op != OpKind::constant_of)) {
      continue;
    }
    const SymShape scalar;
    const SymShape* shape = &scalar;
    if (source->op == OpKind::broadcast) {
      const auto& from = rw.value(source->input(0)).shape;
      if (!from) continue;
      shape = &*from;
    }
    SymShape all = *shape;
    bool known = true;
    for (std::size_t k = 0; k < rw.node(id).inputs.size(); ++k) {
      if (k == i) continue;
      const auto& other = rw.value(rw.node(id).input(k)).shape;
      known = known && other;
      if (!other) break;
      SymShape joined = all.size() >= other->size() ? all : *other;
      const SymShape& shorter = all.size() >= other->size() ? *other : all;
      const std::size_t lead = joined.size() - shorter.size();
      for (std::size_t a = 0; a < shorter.size(); ++a) {
        joined[lead + a] = Dim::broadcast(joined[lead + a], shorter[a]);
      }
      all = std::move(joined);
    }
    if (!known || all != *result) continue;
    add_sources(rw.graph().node(id), *source);
    rw.set_input(id, i, repeated_operand(rw, operand));
    any = true;
  }
  return any;
}

bool simplify_slice(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  if (!node.attrs.has("starts") || !same_shape(rw.graph(), node.input(0), node.output())) {
    return false;
  }
  for (const std::int64_t step : node.attrs.integers("steps")) {
    if (step != 1) return false;
  }
  return rw.bypass(id, node.input(0));
}

bool simplify_concat(Rewriter& rw, NodeId id) {
  const std::size_t before = rw.node(id).inputs.size();
  const std::int64_t axis = rw.node(id).attrs.integer("axis");
  for (std::size_t i = 0; i < rw.node(id).inputs.size() && rw.node(id).inputs.size() > 1;) {
    const auto d = extent(rw.graph(), rw.node(id).input(i), axis);
    if (!d || !d->is_constant(0)) {
      ++i;
      continue;
    }
    rw.set_input(id, i, ValueId{});
    auto& inputs = rw.graph().node(id).inputs;
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (rw.node(id).inputs.size() == 1) return rw.bypass(id, rw.node(id).input(0));
  return rw.node(id).inputs.size() != before;
}

// gather of one place along an axis is a slice and a reshape, which move no index.
bool simplify_gather(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  const auto index = rw.value(node.input(1)).constant;
  const auto& x = rw.value(node.input(0)).shape;
  if (!index || index->count() != 1 || index->dtype() == DataType::string || !x) return false;
  const std::int64_t at = index->at_int(0);
  const std::int64_t axis = node.attrs.integer("axis");
  const auto size = (*x)[static_cast<std::size_t>(axis)].constant();
  if (size && (at < -*size || at >= *size)) return false;  // an error when it is run
  const Node origin = node;
  const ValueId part = rw.insert(
      OpKind::slice, {origin.input(0)},
      Attributes{{"starts", SymShape{at}},
                 {"ends", SymShape{at == -1 ? std::numeric_limits<std::int64_t>::max() : at + 1}},
                 {"axes", std::vector<std::int64_t>{axis}},
                 {"steps", std::vector<std::int64_t>{1}}},
      origin, id);
  // With an unknown extent the slice could be empty where the index is an error; the extent of the
  // gather's result is what it must be.
  if (!(*rw.value(part).shape)[static_cast<std::size_t>(axis)].is_constant(1)) {
    rw.remove(rw.producer_id(part));
    return false;
  }
  return becomes_reshape(rw, id, part);
}

}  // namespace

ValueId repeated_operand(Rewriter& rw, ValueId id) {
  const Node* source = rw.producer(id);
  if (source == nullptr) return id;
  if (source->op == OpKind::broadcast) return source->input(0);
  if (source->op != OpKind::constant_of) return id;
  return rw.add_constant({}, source->attrs.tensor("value").reshaped({}));
}

bool simplify_view(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  switch (node.op) {
    case OpKind::reshape:
      return simplify_reshape(rw, id);
    case OpKind::transpose:
      return simplify_transpose(rw, id);
    case OpKind::broadcast:
      if (same_shape(rw.graph(), node.input(0), node.output())) return rw.bypass(id, node.input(0));
      return false;
    case OpKind::slice:
      return simplify_slice(rw, id);
    case OpKind::concat:
      return simplify_concat(rw, id);
    case OpKind::gather:
      return simplify_gather(rw, id);
    case OpKind::pad: {
      if (!node.attrs.has("pads")) return false;
      for (const Dim& d : node.attrs.dims("pads")) {
        if (!d.is_constant(0)) return false;
      }
      return rw.bypass(id, node.input(0));
    }
    case OpKind::tile:
      if (!node.attrs.has("repeats")) return false;
      for (const Dim& d : node.attrs.dims("repeats")) {
        if (!d.is_constant(1)) return false;
      }
      return rw.bypass(id, node.input(0));
    case OpKind::split:
      return node.outputs.size() == 1 && node.attrs.has("sizes") && rw.bypass(id, node.input(0));
    case OpKind::reduce: {
      // A mean, sum, product, minimum or maximum over axes of extent 1.
      const auto fn = parse_reduce(node.attrs.text("fn"));
      if (fn != ReduceFn::mean && fn != ReduceFn::sum && fn != ReduceFn::prod &&
          fn != ReduceFn::min && fn != ReduceFn::max) {
        return false;
      }
      for (const std::int64_t a : node.attrs.integers("axes")) {
        const auto d = extent(rw.graph(), node.input(0), a);
        if (!d || !d->is_constant(1)) return false;
      }
      return becomes_reshape(rw, id, node.input(0));
    }
    default:
      return skip_repetition(rw, id);
  }
}

}  // namespace concord::graph
