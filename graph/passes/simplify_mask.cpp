#include <algorithm>

#include "graph/passes/iota.h"
#include "graph/passes/simplify.h"

// Exporters build attention masks by gathering single elements at Range × Range coordinates, and
// compare positions with 0. Both are written more simply.
namespace concord::graph {
namespace {

std::optional<std::int64_t> sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  std::int64_t s = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &s)) return std::nullopt;
  return s;
}

ElementRange range_of_contents(const std::vector<Dim>& contents) {
  if (contents.empty()) return {};
  ElementRange r{contents[0].lower_bound(), contents[0].upper_bound()};
  for (const Dim& d : contents) {
    const auto low = d.lower_bound();
    const auto high = d.upper_bound();
    r.low = r.low && low ? std::optional(std::min(*r.low, *low)) : std::nullopt;
    r.high = r.high && high ? std::optional(std::max(*r.high, *high)) : std::nullopt;
  }
  return r;
}

ElementRange range_of_range(const Rewriter& rw, const Node& node, int depth) {
  const auto delta = scalar_constant(rw.graph(), node.input(2));
  const ElementRange start = element_range(rw, node.input(0), depth);
  if (!delta || *delta < 0) return {};
  ElementRange r{start.low, std::nullopt};
  if (node.attrs.has("length") && *delta < 1e6) {
    const Dim last =
        (node.attrs.dims("length")[0] - Dim(1)) * Dim(static_cast<std::int64_t>(*delta));
    r.high = sum(start.high, last.upper_bound());
  }
  return r;
}

bool becomes_bool(Rewriter& rw, NodeId id, bool value) {
  const auto& shape = rw.value(rw.node(id).output()).shape;
  if (!shape) return false;
  Node node;
  node.op = OpKind::constant_of;
  node.attrs.set("shape", *shape);
  node.attrs.set("value", Tensor::scalar<bool>(value));
  rw.replace(id, std::move(node), {});
  return true;
}

bool decide_comparison(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  const auto fn = binary_fn(&node);
  if (!fn || !yields_bool(*fn) || *fn == BinaryFn::equal ||
      !is_integer(rw.value(node.input(0)).dtype)) {
    return false;
  }
  const bool swapped = *fn == BinaryFn::less || *fn == BinaryFn::less_equal;
  const ElementRange big = element_range(rw, node.input(swapped ? 1 : 0));
  const ElementRange small = element_range(rw, node.input(swapped ? 0 : 1));
  const bool or_equal = *fn == BinaryFn::greater_equal || *fn == BinaryFn::less_equal;
  if (big.low && small.high && (or_equal ? *big.low >= *small.high : *big.low > *small.high)) {
    return becomes_bool(rw, id, true);
  }
  if (big.high && small.low && (or_equal ? *big.high < *small.low : *big.high <= *small.low)) {
    return becomes_bool(rw, id, false);
  }
  return false;
}

// The node gathers data[start_j + i_j …] for coordinates that run along the axes of its result:
// a slice of the data, its axes put where the coordinates run, repeated along the others.
bool becomes_slice(Rewriter& rw, NodeId id, ValueId data, const std::vector<Iota>& coordinates,
                   std::size_t index_rank) {
  const Node origin = rw.node(id);
  const auto data_shape = rw.value(data).shape;
  const auto result = rw.value(origin.output()).shape;
  if (!data_shape || !result) return false;
  for (std::size_t j = 0; j + 1 < coordinates.size(); ++j) {
    if (coordinates[j].axis >= coordinates[j + 1].axis) return false;
  }
  ValueId part = data;
  SymShape starts;
  SymShape ends;
  std::vector<std::int64_t> axes;
  for (std::size_t j = 0; j < coordinates.size(); ++j) {
    const Iota& c = coordinates[j];
    if (c.start.is_constant(0) && c.length == (*data_shape)[j]) continue;
    const auto low = c.start.lower_bound();
    if (!low || *low < 0) return false;
    starts.push_back(c.start);
    ends.push_back(c.start + c.length);
    axes.push_back(static_cast<std::int64_t>(j));
  }
  if (!axes.empty()) {
    std::vector<std::int64_t> steps(axes.size(), 1);
    part = rw.insert(OpKind::slice, {data},
                     Attributes{{"starts", std::move(starts)},
                                {"ends", std::move(ends)},
                                {"axes", std::move(axes)},
                                {"steps", std::move(steps)}},
                     origin, id);
  }
  SymShape placed(index_rank, Dim(1));
  for (const Iota& c : coordinates) placed[c.axis] = c.length;
  placed.insert(placed.end(), result->begin() + static_cast<std::ptrdiff_t>(index_rank),
                result->end());
  part = rw.insert(OpKind::reshape, {part},
                   Attributes{{"shape", placed}, {"allow_zero", std::int64_t{1}}}, origin, id);
  Node broadcast;
  broadcast.op = OpKind::broadcast;
  broadcast.inputs = {part};
  broadcast.attrs.set("shape", *result);
  rw.replace(id, std::move(broadcast), {});
  return true;
}

// gather_nd along the first axis only is a gather.
bool becomes_gather(Rewriter& rw, NodeId id) {
  const Node origin = rw.node(id);
  const auto indices = rw.value(origin.input(1)).shape;
  if (!indices || !indices->back().is_constant(1)) return false;
  const ValueId flat =
      rw.insert(OpKind::reshape, {origin.input(1)},
                Attributes{{"shape", SymShape(indices->begin(), indices->end() - 1)},
                           {"allow_zero", std::int64_t{1}}},
                origin, id);
  Node gather;
  gather.op = OpKind::gather;
  gather.inputs = {origin.input(0), flat};
  gather.attrs.set("axis", std::int64_t{0});
  rw.replace(id, std::move(gather), {});
  return true;
}

bool simplify_gather_nd(Rewriter& rw, NodeId id) {
  if (rw.node(id).attrs.integer("batch_dims") == 0 && becomes_gather(rw, id)) return true;
  const Node& node = rw.node(id);
  const auto& indices = rw.value(node.input(1)).shape;
  const Node* concat = rw.producer(node.input(1), OpKind::concat);
  if (concat == nullptr || !indices || node.attrs.integer("batch_dims") != 0) return false;
  const std::size_t rank = indices->size() - 1;
  if (concat->attrs.integer("axis") != static_cast<std::int64_t>(rank)) return false;
  std::vector<Iota> coordinates;
  for (const ValueId input : concat->inputs) {
    const auto c = iota(rw, input);
    const auto d = extent(rw.graph(), input, -1);
    if (!c || !d || !d->is_constant(1) || c->axis >= rank) return false;
    coordinates.push_back(*c);
  }
  return becomes_slice(rw, id, node.input(0), coordinates, rank);
}

// gather(flat data, row · width + column).
bool simplify_flat_gather(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  const Node* flat = rw.producer(node.input(0), OpKind::reshape);
  const Node* add = binary_producer(rw, node.input(1), BinaryFn::add);
  if (flat == nullptr || add == nullptr || node.attrs.integer("axis") != 0) return false;
  const ValueId data = flat->input(0);
  const auto& shape = rw.value(data).shape;
  const auto& flat_shape = rw.value(flat->output()).shape;
  const auto& index_shape = rw.value(node.input(1)).shape;
  if (!shape || !flat_shape || !index_shape || shape->size() != 2) return false;
  if (!((*flat_shape)[0] == (*shape)[0] * (*shape)[1])) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* mul = binary_producer(rw, add->input(side), BinaryFn::mul);
    auto column = iota(rw, add->input(1 - side));
    if (mul == nullptr || !column) continue;
    for (const std::size_t factor : {std::size_t{0}, std::size_t{1}}) {
      const Value& width = rw.value(mul->input(factor));
      auto row = iota(rw, mul->input(1 - factor));
      if (!row || !width.contents || width.contents->size() != 1 ||
          !(width.contents->front() == (*shape)[1])) {
        continue;
      }
      // Operands broadcast from the right.
      const auto rank = index_shape->size();
      row->axis += rank - rw.value(mul->input(1 - factor)).shape->size();
      column->axis += rank - rw.value(add->input(1 - side)).shape->size();
      return becomes_slice(rw, id, data, {*row, *column}, rank);
    }
  }
  return false;
}

}  // namespace

ElementRange element_range(const Rewriter& rw, ValueId id, int depth) {
  const Value& value = rw.value(id);
  if (depth == 0 || (!is_integer(value.dtype) && value.dtype != DataType::boolean)) return {};
  if (value.contents) return range_of_contents(*value.contents);
  if (value.constant && value.constant->count() > 0 && value.constant->count() <= 4096) {
    const auto ints = value.constant->ints();
    const auto [low, high] = std::minmax_element(ints.begin(), ints.end());
    return {*low, *high};
  }
  const Node* node = rw.producer(id);
  if (node == nullptr) return {};
  switch (node->op) {
    case OpKind::range:
      return range_of_range(rw, *node, depth - 1);
    case OpKind::reshape:
    case OpKind::transpose:
    case OpKind::broadcast:
    case OpKind::slice:
    case OpKind::gather:
    case OpKind::tile:
      return element_range(rw, node->input(0), depth - 1);
    case OpKind::binary: {
      const ElementRange a = element_range(rw, node->input(0), depth - 1);
      const ElementRange b = element_range(rw, node->input(1), depth - 1);
      switch (*binary_fn(node)) {
        case BinaryFn::add:
          return {sum(a.low, b.low), sum(a.high, b.high)};
        case BinaryFn::max:
          return {a.low && b.low ? std::optional(std::max(*a.low, *b.low))
                  : a.low        ? a.low
                                 : b.low,
                  a.high && b.high ? std::optional(std::max(*a.high, *b.high)) : std::nullopt};
        default:
          return {};
      }
    }
    default:
      return {};
  }
}

bool simplify_mask(Rewriter& rw, NodeId id) {
  switch (rw.node(id).op) {
    case OpKind::binary:
      return decide_comparison(rw, id);
    case OpKind::gather_nd:
      return simplify_gather_nd(rw, id);
    case OpKind::gather:
      return simplify_flat_gather(rw, id);
    default:
      return false;
  }
}

}  // namespace concord::graph
