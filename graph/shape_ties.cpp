#include "graph/shape_ties.h"

#include <algorithm>

namespace concord::graph {
namespace {

void collect(const Graph& graph, bool in_body, std::vector<ShapeTie>& ties) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto shape = [&](std::size_t i) {
      const bool known = node.has_input(i) && graph.value(node.inputs[i]).shape;
      return known ? &*graph.value(node.inputs[i]).shape : nullptr;
    };
    for (ExtentRule& rule : extent_rules(node, shape)) {
      if (rule.a.is_constant() && rule.b.is_constant()) continue;
      const bool known = std::any_of(ties.begin(), ties.end(), [&](const ShapeTie& t) {
        return t.in_body == in_body && t.rule.kind == rule.kind && t.rule.a == rule.a &&
               t.rule.b == rule.b;
      });
      if (!known) ties.push_back({std::move(rule), describe(node), in_body});
    }
    for (const Graph& body : node.bodies) collect(body, true, ties);
  }
}

}  // namespace

std::vector<ShapeTie> shape_ties(const Graph& graph) {
  std::vector<ShapeTie> ties;
  collect(graph, false, ties);
  return ties;
}

void solve_ties(const std::vector<ShapeTie>& ties, Bindings& bindings) {
  for (bool changed = true; changed;) {
    const std::size_t before = bindings.size();
    for (const ShapeTie& tie : ties) {
      const ExtentRule& rule = tie.rule;
      if (rule.kind == ExtentRule::Kind::at_most) continue;
      for (const auto& [open, known] : {std::pair(rule.a, rule.b), std::pair(rule.b, rule.a)}) {
        const auto extent = known.evaluate(bindings);
        if (!extent || open.evaluate(bindings)) continue;
        if (rule.kind != ExtentRule::Kind::equal && *extent == 1) continue;
        const SymShape side = {open};
        const std::vector<std::int64_t> actual = {*extent};
        static_cast<void>(bind_shape(side, actual, bindings));
      }
    }
    changed = bindings.size() > before;
  }
}

std::optional<std::string> contradiction(const std::vector<ShapeTie>& ties,
                                         const Bindings& bindings) {
  for (const auto& [rule, node, in_body] : ties) {
    if (in_body) continue;
    const auto a = rule.a.evaluate(bindings);
    const auto b = rule.b.evaluate(bindings);
    if (!a || !b || rule.holds(*a, *b)) continue;
    const char* sign = rule.kind == ExtentRule::Kind::at_most ? " ≤ " : " = ";
    return node + " needs " + rule.a.to_string() + sign + rule.b.to_string() + " for " + rule.what +
           ", but they are " + std::to_string(*a) + " and " + std::to_string(*b);
  }
  return std::nullopt;
}

}  // namespace concord::graph
