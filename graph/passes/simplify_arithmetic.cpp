#include <cmath>

#include "graph/passes/simplify.h"

namespace concord::graph {
namespace {

bool same_type(const Rewriter& rw, const Node& node, ValueId x) {
  return rw.value(x).dtype == rw.value(node.output()).dtype;
}

// The node passes x on unchanged.
bool is_x(Rewriter& rw, NodeId id, ValueId x) {
  const Node& node = rw.node(id);
  return same_type(rw, node, x) && same_shape(rw.graph(), x, node.output()) && rw.bypass(id, x);
}

bool becomes_unary(Rewriter& rw, NodeId id, UnaryFn fn, ValueId x) {
  if (!same_shape(rw.graph(), x, rw.node(id).output())) return false;
  Node node;
  node.op = OpKind::unary;
  node.inputs = {x};
  node.attrs = Attributes{{"fn", std::string(to_string(fn))}, {"alpha", 0.0}, {"beta", 0.0}};
  rw.replace(id, std::move(node), {});
  return true;
}

// Whether all elements are this bool.
std::optional<bool> uniform_bool(const Rewriter& rw, ValueId id, int depth = 8) {
  if (const auto c = scalar_constant(rw.graph(), id)) return *c != 0;
  const Node* node = rw.producer(id);
  if (node == nullptr || depth == 0) return std::nullopt;
  if (node->op == OpKind::constant_of) return node->attrs.tensor("value").at_int(0) != 0;
  if (node->op == OpKind::broadcast || node->op == OpKind::reshape) {
    return uniform_bool(rw, node->input(0), depth - 1);
  }
  return std::nullopt;
}

// x where the node's result is x broadcast to its shape.
bool is_broadcast_x(Rewriter& rw, NodeId id, ValueId x) {
  if (is_x(rw, id, x)) return true;
  const Node& node = rw.node(id);
  const auto& shape = rw.value(node.output()).shape;
  if (!shape || !same_type(rw, node, x)) return false;
  Node broadcast;
  broadcast.op = OpKind::broadcast;
  broadcast.inputs = {x};
  broadcast.attrs.set("shape", *shape);
  rw.replace(id, std::move(broadcast), {});
  return true;
}

bool simplify_logical(Rewriter& rw, NodeId id, BinaryFn fn) {
  const Node& node = rw.node(id);
  if (node.input(0) == node.input(1)) return is_x(rw, id, node.input(0));
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const auto known = uniform_bool(rw, node.input(i));
    if (!known) continue;
    // true && x, false || x: x; the rest is known.
    const bool neutral = fn == BinaryFn::logical_and;
    const ValueId result = *known == neutral ? node.input(1 - i) : node.input(i);
    if (is_broadcast_x(rw, id, result)) return true;
  }
  return false;
}

bool simplify_binary(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  const auto fn = binary_fn(&node);
  const ValueId a = node.input(0);
  const ValueId b = node.input(1);
  if (fn == BinaryFn::logical_and || fn == BinaryFn::logical_or) {
    return simplify_logical(rw, id, *fn);
  }
  const auto x = scalar_constant(rw.graph(), a);
  const auto y = scalar_constant(rw.graph(), b);
  const bool integers = !is_float(rw.value(a).dtype);
  switch (*fn) {
    case BinaryFn::mul:
      if (y == 1.0) return is_x(rw, id, a);
      if (x == 1.0) return is_x(rw, id, b);
      if (a == b && is_float(rw.value(a).dtype)) return becomes_unary(rw, id, UnaryFn::square, a);
      return false;
    case BinaryFn::div:
      return y == 1.0 && is_x(rw, id, a);
    case BinaryFn::add:
      // x + 0 turns −0 into +0, so only for integers.
      if (integers && y == 0.0) return is_x(rw, id, a);
      if (integers && x == 0.0) return is_x(rw, id, b);
      return false;
    case BinaryFn::sub:
      return y == 0.0 && !std::signbit(*y) && is_x(rw, id, a);
    case BinaryFn::pow:
      if (y == 1.0) return is_x(rw, id, a);
      if (y == 2.0 && is_float(rw.value(a).dtype)) return becomes_unary(rw, id, UnaryFn::square, a);
      return false;
    case BinaryFn::min:
    case BinaryFn::max:
      return a == b && is_x(rw, id, a);
    default:
      return false;
  }
}

bool simplify_cast(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  const ValueId x = node.input(0);
  const DataType to = node.attrs.dtype("to");
  if (rw.value(x).dtype == to) return rw.bypass(id, x);
  const Node* before = rw.producer(x, OpKind::cast);
  if (before == nullptr) return false;
  const ValueId origin = before->input(0);
  const DataType from = rw.value(origin).dtype;
  const DataType between = rw.value(x).dtype;
  // A type that holds every value of the first one on the way.
  const auto mantissa = [](DataType t) {
    switch (t) {
      case DataType::f64:
        return 53;
      case DataType::f32:
        return 24;
      case DataType::f16:
        return 11;
      case DataType::bf16:
        return 8;
      default:
        return 0;
    }
  };
  bool widens = from == DataType::boolean && (is_integer(between) || mantissa(between) > 0);
  if (is_integer(from) && is_integer(between)) {
    const bool sign = is_signed_integer(from);
    widens = sign == is_signed_integer(between) ? bits(between) >= bits(from)
                                                : !sign && bits(between) > bits(from);
  }
  if (mantissa(from) > 0 && mantissa(between) >= mantissa(from)) {
    widens = !(from == DataType::bf16 && between == DataType::f16);
  }
  if (!widens) return false;
  add_sources(rw.graph().node(id), *before);
  rw.set_input(id, 0, origin);
  return true;
}

}  // namespace

bool simplify_arithmetic(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  switch (node.op) {
    case OpKind::unary: {
      const auto fn = unary_fn(&node);
      if (fn == UnaryFn::identity) return rw.bypass(id, node.input(0));
      if (fn == UnaryFn::neg || fn == UnaryFn::logical_not) {
        const Node* before = unary_producer(rw, node.input(0), *fn);
        return before != nullptr && rw.bypass(id, before->input(0));
      }
      return false;
    }
    case OpKind::binary:
      return simplify_binary(rw, id);
    case OpKind::cast:
      return simplify_cast(rw, id);
    case OpKind::select: {
      if (node.input(1) == node.input(2)) return is_x(rw, id, node.input(1));
      const auto known = uniform_bool(rw, node.input(0));
      return known && is_broadcast_x(rw, id, node.input(*known ? 1 : 2));
    }
    default:
      return false;
  }
}

}  // namespace concord::graph
