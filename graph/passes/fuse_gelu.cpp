#include <array>
#include <cmath>
#include <numbers>

#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

// A polynomial in one value: coefficients of 1, x, x², x³.
using Polynomial = std::array<double, 4>;

// Reads an expression as a polynomial, whatever way it is spelled. A value that is read more than
// once, or is no arithmetic, is the variable.
class PolynomialReader {
 public:
  explicit PolynomialReader(const Rewriter& rw) : rw_(rw) {}

  std::optional<Polynomial> read(ValueId root) { return read(root, root, 8); }
  ValueId variable() const { return variable_; }
  const std::vector<NodeId>& nodes() const { return nodes_; }

 private:
  std::optional<Polynomial> read(ValueId id, ValueId root, int depth) {
    if (const auto c = scalar_constant(rw_.graph(), id)) return Polynomial{*c, 0, 0, 0};
    const Node* node = rw_.producer(id);
    const bool inside = node != nullptr && depth > 0 && (id == root || rw_.single_use(id)) &&
                        id != variable_ && arithmetic(*node);
    if (!inside) {
      if (!variable_.valid()) variable_ = id;
      if (variable_ != id) return std::nullopt;
      return Polynomial{0, 1, 0, 0};
    }
    nodes_.push_back(rw_.producer_id(id));
    const auto a = read(node->input(0), root, depth - 1);
    if (!a) return std::nullopt;
    if (node->op == OpKind::unary) {
      if (is_unary(node, UnaryFn::square)) return times(*a, *a);
      return times(*a, Polynomial{-1, 0, 0, 0});
    }
    const auto b = read(node->input(1), root, depth - 1);
    if (!b) return std::nullopt;
    switch (*binary_fn(node)) {
      case BinaryFn::add:
      case BinaryFn::sub: {
        Polynomial sum = *a;
        const double sign = is_binary(node, BinaryFn::add) ? 1 : -1;
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += sign * (*b)[k];
        return sum;
      }
      case BinaryFn::mul:
        return times(*a, *b);
      case BinaryFn::div:
        if (!constant(*b) || (*b)[0] == 0) return std::nullopt;
        return times(*a, Polynomial{1 / (*b)[0], 0, 0, 0});
      default: {  // pow
        if (!constant(*b) || ((*b)[0] != 2 && (*b)[0] != 3)) return std::nullopt;
        const auto square = times(*a, *a);
        return (*b)[0] == 2 || !square ? square : times(*square, *a);
      }
    }
  }

  static bool arithmetic(const Node& node) {
    if (is_unary(&node, UnaryFn::square) || is_unary(&node, UnaryFn::neg)) return true;
    const auto fn = binary_fn(&node);
    return fn == BinaryFn::add || fn == BinaryFn::sub || fn == BinaryFn::mul ||
           fn == BinaryFn::div || fn == BinaryFn::pow;
  }
  static bool constant(const Polynomial& p) { return p[1] == 0 && p[2] == 0 && p[3] == 0; }
  static std::optional<Polynomial> times(const Polynomial& a, const Polynomial& b) {
    Polynomial product{};
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t k = 0; k < b.size(); ++k) {
        if (a[i] == 0 || b[k] == 0) continue;
        if (i + k >= product.size()) return std::nullopt;
        product[i + k] += a[i] * b[k];
      }
    }
    return product;
  }

  const Rewriter& rw_;
  ValueId variable_;
  std::vector<NodeId> nodes_;
};

struct Gate {
  NodeId root;
  std::vector<NodeId> absorbed;
};

// From 1 + f down to the product x/2 · (1 + f), whose factors stand in any order.
std::optional<Gate> find_gate(Rewriter& rw, ValueId gate, ValueId x) {
  Gate found;
  double factor = 1;
  bool seen = false;
  const DataType type = rw.value(x).dtype;
  for (int step = 0; step < 4; ++step) {
    const NodeId user = rw.only_user(gate);
    if (!user.valid()) return std::nullopt;
    const Node& node = rw.node(user);
    const auto scaled = scaled_by(rw.graph(), node);
    if (scaled && scaled->base == gate) {
      factor *= scaled->factor;
    } else if (is_binary(&node, BinaryFn::mul) && !seen) {
      const ValueId other = other_input(node, gate);
      if (other != x) {
        const Node* half = rw.producer(other);
        const auto inner = half ? scaled_by(rw.graph(), *half) : std::nullopt;
        if (!inner || inner->base != x) return std::nullopt;
        factor *= inner->factor;
        found.absorbed.push_back(rw.producer_id(other));
      }
      seen = true;
    } else {
      return std::nullopt;
    }
    if (seen && near(factor, 0.5, type)) {
      found.root = user;
      return found;
    }
    found.absorbed.push_back(user);
    gate = node.output();
  }
  return std::nullopt;
}

bool fuse(Rewriter& rw, NodeId id) {
  const Node& node = rw.node(id);
  const auto fn = unary_fn(&node);
  if (fn != UnaryFn::erf && fn != UnaryFn::tanh) return false;
  const ValueId value = node.output();
  PolynomialReader inside(rw);
  const auto p = inside.read(node.input(0));
  if (!p || (*p)[0] != 0 || (*p)[2] != 0) return false;
  const ValueId x = inside.variable();
  if (!x.valid()) return false;
  const DataType type = rw.value(x).dtype;
  if (fn == UnaryFn::erf) {
    if ((*p)[3] != 0 || !near((*p)[1], std::numbers::sqrt2 / 2, type)) return false;
  } else {
    const double slope = std::sqrt(2 * std::numbers::inv_pi);
    if (!near((*p)[1], slope, type) || !near((*p)[3], slope * 0.044715, type)) return false;
  }
  const NodeId one_plus = rw.only_user(value);
  if (!one_plus.valid()) return false;
  const auto shifted = shifted_by(rw.graph(), rw.node(one_plus));
  if (!shifted || shifted->base != value || shifted->offset != 1) return false;
  auto gate = find_gate(rw, rw.node(one_plus).output(), x);
  if (!gate || !same_shape(rw.graph(), x, rw.node(gate->root).output())) return false;
  gate->absorbed.push_back(id);
  gate->absorbed.push_back(one_plus);
  gate->absorbed.insert(gate->absorbed.end(), inside.nodes().begin(), inside.nodes().end());
  Node gelu;
  gelu.op = OpKind::unary;
  gelu.inputs = {x};
  gelu.attrs = Attributes{{"fn", std::string(fn == UnaryFn::erf ? "gelu_erf" : "gelu_tanh")},
                          {"alpha", 0.0},
                          {"beta", 0.0}};
  rw.replace(gate->root, std::move(gelu), gate->absorbed);
  return true;
}

}  // namespace

int fuse_gelu(Graph& graph, const PassOptions&) {
  return rewrite_each(graph, fuse);
}

}  // namespace concord::graph
