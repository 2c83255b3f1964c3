#include "graph/extent_rules.h"

#include <algorithm>

#include "graph/extent_collector.h"
#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

using Kind = ExtentRule::Kind;

std::string input_text(std::size_t i) {
  return "input " + std::to_string(i);
}

const char* wanted_text(Kind kind) {
  switch (kind) {
    case Kind::equal:
      return "equal";
    case Kind::broadcast:
      return "equal, or either 1";
    case Kind::fits:
      return "equal, or the first 1";
    case Kind::at_most:
      return "the first at most the second";
  }
  return "";
}

}  // namespace

std::vector<ExtentRule> ExtentCollector::collect() {
  switch (node_.op) {
    case OpKind::attention:
      attention();
      break;
    case OpKind::binary:
    case OpKind::elementwise:
    case OpKind::select:
      broadcast_all();
      break;
    case OpKind::broadcast:
      if (node_.attrs.has("shape")) aligned(shape_(0), &node_.attrs.dims("shape"), Kind::broadcast);
      break;
    case OpKind::concat:
      concat();
      break;
    case OpKind::conv:
      conv();
      break;
    case OpKind::conv_transpose:
      conv_transpose();
      break;
    case OpKind::einsum:
      einsum();
      break;
    case OpKind::gather_elements:
      elements();
      break;
    case OpKind::gather_nd:
      gather_nd();
      break;
    case OpKind::group_norm:
      channels(1);
      channels(2);
      break;
    case OpKind::gru:
      recurrent(3);
      break;
    case OpKind::layer_norm:
    case OpKind::rms_norm:
      for (std::size_t i = 1; i < node_.inputs.size(); ++i) fits_first(i);
      break;
    case OpKind::lstm:
      recurrent(4);
      break;
    case OpKind::matmul:
    case OpKind::matmul_integer:
      matmul();
      break;
    case OpKind::one_hot:
      if (const SymShape* values = ranked(2, 1)) {
        add(Kind::equal, values->front(), 2, "the values off and on");
      }
      break;
    case OpKind::reshape:
      if (const SymShape* x = shape_(0); x != nullptr && node_.attrs.has("shape")) {
        add(Kind::equal, product(*x), product(node_.attrs.dims("shape")),
            "the elements before and after");
      }
      break;
    case OpKind::reverse_sequence:
      reverse_sequence();
      break;
    case OpKind::rnn:
      recurrent(1);
      break;
    case OpKind::rotary:
      rotary();
      break;
    case OpKind::scatter_elements:
      scatter_elements();
      break;
    case OpKind::scatter_nd:
      scatter_nd();
      break;
    case OpKind::split:
      split();
      break;
    case OpKind::top_k:
      top_k();
      break;
    default:
      break;
  }
  return std::move(rules_);
}

void ExtentCollector::add(Kind kind, const Dim& a, const Dim& b, std::string what) {
  if (!(a == b)) rules_.push_back({kind, a, b, std::move(what)});
}

const SymShape* ExtentCollector::ranked(std::size_t i, std::size_t rank) const {
  const SymShape* shape = shape_(i);
  if (shape != nullptr && shape->size() != rank) {
    mismatch("rank " + std::to_string(rank) + " of " + input_text(i), concord::to_string(*shape));
  }
  return shape;
}

void ExtentCollector::aligned(const SymShape* a, const SymShape* b, Kind kind, std::size_t skip) {
  if (a == nullptr || b == nullptr) return;
  for (std::size_t i = skip + 1; i <= std::min(a->size(), b->size()); ++i) {
    const Dim& from_a = (*a)[a->size() - i];
    const Dim& from_b = (*b)[b->size() - i];
    if (from_a == from_b) continue;
    add(kind, from_a, from_b,
        concord::to_string(*a) + " and " + concord::to_string(*b) + ", which must broadcast");
  }
}

void ExtentCollector::broadcast_all() {
  for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
    for (std::size_t j = i + 1; j < node_.inputs.size(); ++j) {
      aligned(shape_(i), shape_(j), Kind::broadcast);
    }
  }
}

void ExtentCollector::fits_first(std::size_t i) {
  const SymShape* x = shape_(0);
  const SymShape* other = shape_(i);
  if (x == nullptr || other == nullptr) return;
  if (other->size() > x->size()) {
    mismatch(input_text(i) + " that broadcasts to " + concord::to_string(*x),
             concord::to_string(*other));
  }
  aligned(other, x, Kind::fits);
}

void ExtentCollector::same_shape(std::size_t i, std::size_t j, const char* what) {
  const SymShape* a = shape_(i);
  const SymShape* b = a != nullptr ? ranked(j, a->size()) : nullptr;
  for (std::size_t d = 0; b != nullptr && d < a->size(); ++d) {
    add(Kind::equal, (*a)[d], (*b)[d], "axis " + std::to_string(d) + what);
  }
}

void ExtentCollector::channels(std::size_t i) {
  const SymShape* x = shape_(0);
  const SymShape* of = ranked(i, 1);
  if (x == nullptr || of == nullptr || x->size() < 2) return;
  add(Kind::equal, of->front(), (*x)[1], input_text(i) + " and the channels of x");
}

bool ExtentRule::holds(std::int64_t x, std::int64_t y) const {
  switch (kind) {
    case Kind::equal:
      return x == y;
    case Kind::broadcast:
      return x == y || x == 1 || y == 1;
    case Kind::fits:
      return x == y || x == 1;
    case Kind::at_most:
      return x <= y;
  }
  return true;
}

std::vector<ExtentRule> extent_rules(const Node& node, const ShapeOf& shape) {
  return ExtentCollector(node, shape).collect();
}

void check_extents(const Node& node, const ShapeOf& shape) {
  for (const ExtentRule& rule : extent_rules(node, shape)) {
    const auto a = rule.a.constant();
    const auto b = rule.b.constant();
    if (!a || !b || rule.holds(*a, *b)) continue;
    mismatch(rule.what + " (" + wanted_text(rule.kind) + ")",
             std::to_string(*a) + " and " + std::to_string(*b));
  }
}

void check_extents(const Node& node, std::span<const Tensor> inputs) {
  std::vector<SymShape> shapes;
  for (const Tensor& tensor : inputs) {
    shapes.push_back(tensor.defined() ? SymShape(tensor.shape().begin(), tensor.shape().end())
                                      : SymShape{});
  }
  check_extents(node, [&](std::size_t i) {
    return i < inputs.size() && inputs[i].defined() ? &shapes[i] : nullptr;
  });
}

}  // namespace concord::graph
