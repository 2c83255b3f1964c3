#include "graph/passes/match.h"

#include <cmath>
#include <cstring>

namespace concord::graph {

std::optional<UnaryFn> unary_fn(const Node* node) {
  if (node == nullptr || node->op != OpKind::unary) return std::nullopt;
  return parse_unary(node->attrs.text("fn"));
}

std::optional<BinaryFn> binary_fn(const Node* node) {
  if (node == nullptr || node->op != OpKind::binary) return std::nullopt;
  return parse_binary(node->attrs.text("fn"));
}

bool is_unary(const Node* node, UnaryFn fn) {
  return unary_fn(node) == fn;
}

bool is_binary(const Node* node, BinaryFn fn) {
  return binary_fn(node) == fn;
}

const Node* unary_producer(const Rewriter& rw, ValueId id, UnaryFn fn) {
  const Node* node = rw.producer(id);
  return is_unary(node, fn) ? node : nullptr;
}

const Node* binary_producer(const Rewriter& rw, ValueId id, BinaryFn fn) {
  const Node* node = rw.producer(id);
  return is_binary(node, fn) ? node : nullptr;
}

std::optional<double> scalar_constant(const Graph& graph, ValueId id) {
  if (!id.valid()) return std::nullopt;
  const auto& constant = graph.value(id).constant;
  if (!constant || constant->count() != 1 || constant->dtype() == DataType::string) {
    return std::nullopt;
  }
  return constant->at_double(0);
}

double constant_tolerance(DataType dtype) {
  switch (dtype) {
    case DataType::f64:
    case DataType::f32:
      return 2e-5;
    case DataType::f16:
      return 1e-3;
    default:
      return 6e-3;
  }
}

bool near(double value, double wanted, DataType dtype) {
  return std::abs(value - wanted) <= constant_tolerance(dtype) * std::abs(wanted);
}

namespace {

// The index of the operand that is a scalar constant and does not add axes to the other one.
std::optional<std::size_t> scalar_operand(const Graph& graph, const Node& node) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    if (!scalar_constant(graph, node.input(i))) continue;
    const auto scalar_rank = rank_of(graph, node.input(i));
    const auto other_rank = rank_of(graph, node.input(1 - i));
    if (other_rank && scalar_rank && *scalar_rank <= *other_rank) return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Scaled> scaled_by(const Graph& graph, const Node& node) {
  if (is_unary(&node, UnaryFn::neg)) return Scaled{node.input(0), -1};
  const auto fn = binary_fn(&node);
  if (fn != BinaryFn::mul && fn != BinaryFn::div) return std::nullopt;
  const auto at = scalar_operand(graph, node);
  if (!at || (fn == BinaryFn::div && *at == 0)) return std::nullopt;
  const double s = *scalar_constant(graph, node.input(*at));
  if (fn == BinaryFn::div && s == 0) return std::nullopt;
  return Scaled{node.input(1 - *at), fn == BinaryFn::mul ? s : 1 / s};
}

std::optional<Shifted> shifted_by(const Graph& graph, const Node& node) {
  const auto fn = binary_fn(&node);
  if (fn != BinaryFn::add && fn != BinaryFn::sub) return std::nullopt;
  const auto at = scalar_operand(graph, node);
  if (!at || (fn == BinaryFn::sub && *at == 0)) return std::nullopt;
  const double s = *scalar_constant(graph, node.input(*at));
  return Shifted{node.input(1 - *at), fn == BinaryFn::add ? s : -s};
}

std::optional<Quantisation> quantisation_of(const Rewriter& rw, const Node& node) {
  const auto scale = scalar_constant(rw.graph(), node.input(1));
  if (!scale || rw.value(node.input(1)).dtype != DataType::f32) return std::nullopt;
  if (!std::isnormal(static_cast<float>(*scale)) || node.attrs.integer("block_size", 0) != 0) {
    return std::nullopt;
  }
  Quantisation found{*scale, 0};
  if (node.has_input(2)) {
    const auto zero = scalar_constant(rw.graph(), node.input(2));
    if (!zero) return std::nullopt;
    found.zero = *zero;
  }
  return found;
}

ValueId other_input(const Node& node, ValueId one) {
  return node.input(0) == one ? node.input(1) : node.input(0);
}

bool same_shape(const std::optional<SymShape>& a, const std::optional<SymShape>& b) {
  return a && b && *a == *b;
}

bool same_shape(const Graph& graph, ValueId a, ValueId b) {
  return same_shape(graph.value(a).shape, graph.value(b).shape);
}

std::optional<std::int64_t> rank_of(const Graph& graph, ValueId id) {
  const auto& shape = graph.value(id).shape;
  return shape ? std::optional(static_cast<std::int64_t>(shape->size())) : std::nullopt;
}

std::optional<Dim> extent(const Graph& graph, ValueId id, std::int64_t axis) {
  const auto& shape = graph.value(id).shape;
  if (!shape) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(shape->size());
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) return std::nullopt;
  return (*shape)[static_cast<std::size_t>(at)];
}

std::vector<std::int64_t> compose(const std::vector<std::int64_t>& first,
                                  const std::vector<std::int64_t>& second) {
  std::vector<std::int64_t> result;
  for (const std::int64_t p : second) result.push_back(first[static_cast<std::size_t>(p)]);
  return result;
}

bool is_identity(const std::vector<std::int64_t>& perm) {
  for (std::size_t k = 0; k < perm.size(); ++k) {
    if (perm[k] != static_cast<std::int64_t>(k)) return false;
  }
  return true;
}

bool swaps_last_two(const std::vector<std::int64_t>& perm) {
  if (perm.size() < 2) return false;
  std::vector<std::int64_t> swapped = perm;
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  return is_identity(swapped);
}

Tensor scalar_tensor(DataType dtype, double value) {
  Tensor t(dtype, {});
  std::byte* data = t.mutable_data();
  if (is_float(dtype)) {
    const std::uint64_t bits = float_to_bits(dtype, value);
    std::memcpy(data, &bits, static_cast<std::size_t>(t.bytes()));
  } else {
    const auto v = static_cast<std::int64_t>(value);
    std::memcpy(data, &v, static_cast<std::size_t>(t.bytes()));
  }
  return t;
}

}  // namespace concord::graph
