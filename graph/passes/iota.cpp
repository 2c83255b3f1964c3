#include "graph/passes/iota.h"

namespace concord::graph {
namespace {

// The only element of an integer value, if it is known.
std::optional<Dim> known_scalar(const Rewriter& rw, ValueId id) {
  const Value& value = rw.value(id);
  if (!is_integer(value.dtype)) return std::nullopt;
  if (value.contents && value.contents->size() == 1) return value.contents->front();
  const auto c = scalar_constant(rw.graph(), id);
  return c ? std::optional(Dim(value.constant->at_int(0))) : std::nullopt;
}

// iota ± a scalar.
std::optional<Iota> shifted_iota(const Rewriter& rw, ValueId id, const Node& node, int depth) {
  const bool add = is_binary(&node, BinaryFn::add);
  if (!add && !is_binary(&node, BinaryFn::sub)) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    if (side == 1 && !add) break;
    const auto offset = known_scalar(rw, node.input(1 - side));
    if (!offset || !same_shape(rw.graph(), id, node.input(side))) continue;
    auto inner = iota(rw, node.input(side), depth - 1);
    if (!inner) continue;
    inner->start = add ? inner->start + *offset : inner->start - *offset;
    inner->nodes.push_back(rw.producer_id(id));
    return inner;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Iota> iota(const Rewriter& rw, ValueId id, int depth) {
  const Node* node = rw.producer(id);
  const auto& shape = rw.value(id).shape;
  if (node == nullptr || depth == 0 || !shape) return std::nullopt;
  if (node->op == OpKind::range) {
    if (!node->attrs.has("length") || scalar_constant(rw.graph(), node->input(2)) != 1.0) {
      return std::nullopt;
    }
    const Value& start = rw.value(node->input(0));
    if (start.contents && start.contents->size() == 1) {
      return Iota{0, start.contents->front(), node->attrs.dims("length")[0], {rw.producer_id(id)}};
    }
    if (const auto s = scalar_constant(rw.graph(), node->input(0))) {
      return Iota{
          0, static_cast<std::int64_t>(*s), node->attrs.dims("length")[0], {rw.producer_id(id)}};
    }
    return std::nullopt;
  }
  if (node->op == OpKind::binary) return shifted_iota(rw, id, *node, depth);
  if (node->op != OpKind::reshape && node->op != OpKind::broadcast) return std::nullopt;
  auto inner = iota(rw, node->input(0), depth - 1);
  const auto& from = rw.value(node->input(0)).shape;
  if (!inner || !from || inner->length.is_constant(1)) return std::nullopt;
  inner->nodes.push_back(rw.producer_id(id));
  if (node->op == OpKind::broadcast) {
    inner->axis += shape->size() - from->size();
    return (*shape)[inner->axis] == inner->length ? inner : std::nullopt;
  }
  // A reshape that only adds or removes axes of extent 1.
  std::vector<std::size_t> before;
  std::vector<std::size_t> after;
  for (std::size_t k = 0; k < from->size(); ++k) {
    if (!(*from)[k].is_constant(1)) before.push_back(k);
  }
  for (std::size_t k = 0; k < shape->size(); ++k) {
    if (!(*shape)[k].is_constant(1)) after.push_back(k);
  }
  if (before.size() != after.size()) return std::nullopt;
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (!((*from)[before[k]] == (*shape)[after[k]])) return std::nullopt;
    if (before[k] == inner->axis) {
      inner->axis = after[k];
      return inner;
    }
  }
  return std::nullopt;
}

}  // namespace concord::graph
