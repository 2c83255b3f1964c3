#include "graph/shape_ties.h"

#include <algorithm>

namespace concord::graph {
namespace {

class Collector {
 public:
  std::vector<ShapeTie> ties;

  void collect(const Graph& graph) {
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      switch (node.op) {
        case OpKind::binary:
        case OpKind::elementwise:
        case OpKind::select:
          broadcast_all(graph, node);
          break;
        case OpKind::matmul:
          matmul(graph, node);
          break;
        case OpKind::concat:
          concat(graph, node);
          break;
        case OpKind::attention:
          attention(graph, node);
          break;
        default:
          break;
      }
      for (const Graph& body : node.bodies) collect(body);
    }
  }

 private:
  static const SymShape* shape(const Graph& graph, ValueId id) {
    if (!id.valid() || !graph.value(id).shape) return nullptr;
    return &*graph.value(id).shape;
  }

  void tie(const Dim& a, const Dim& b, bool broadcast, const Node& node) {
    if (a == b || (a.is_constant() && b.is_constant())) return;
    if (broadcast && (a.is_constant(1) || b.is_constant(1))) return;
    const bool known = std::any_of(ties.begin(), ties.end(), [&](const ShapeTie& t) {
      return (t.a == a && t.b == b) || (t.a == b && t.b == a);
    });
    if (!known) ties.push_back({a, b, broadcast, describe(node)});
  }

  // Axes aligned at the end; `skip` trailing axes are left out.
  void aligned(const SymShape& a, const SymShape& b, std::size_t skip, const Node& node) {
    const std::size_t rank = std::min(a.size(), b.size());
    for (std::size_t i = skip + 1; i <= rank; ++i) {
      tie(a[a.size() - i], b[b.size() - i], true, node);
    }
  }

  void broadcast_all(const Graph& graph, const Node& node) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      for (std::size_t j = i + 1; j < node.inputs.size(); ++j) {
        const SymShape* a = shape(graph, node.inputs[i]);
        const SymShape* b = shape(graph, node.inputs[j]);
        if (a != nullptr && b != nullptr) aligned(*a, *b, 0, node);
      }
    }
  }

  void matmul(const Graph& graph, const Node& node) {
    const SymShape* a = shape(graph, node.input(0));
    const SymShape* b = shape(graph, node.input(1));
    if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return;
    const Dim& inner_a = (*a)[a->size() - (node.attrs.integer("trans_a", 0) != 0 ? 2 : 1)];
    const Dim& inner_b = (*b)[b->size() - (node.attrs.integer("trans_b", 0) != 0 ? 1 : 2)];
    tie(inner_a, inner_b, false, node);
    aligned(*a, *b, 2, node);
  }

  void concat(const Graph& graph, const Node& node) {
    const auto axis = static_cast<std::size_t>(node.attrs.integer("axis"));
    const SymShape* first = shape(graph, node.input(0));
    for (std::size_t i = 1; first != nullptr && i < node.inputs.size(); ++i) {
      const SymShape* other = shape(graph, node.inputs[i]);
      if (other == nullptr || other->size() != first->size()) continue;
      for (std::size_t d = 0; d < first->size(); ++d) {
        if (d != axis) tie((*first)[d], (*other)[d], false, node);
      }
    }
  }

  // As many elements after as before.
  void reshape(const Graph& graph, const Node& node) {
    const SymShape* from = shape(graph, node.input(0));
    const SymShape* to = shape(graph, node.output());
    if (from == nullptr || to == nullptr || !node.attrs.has("shape")) return;
    tie(product(*from), product(*to), false, node);
  }

  void norm(const Graph& graph, const Node& node) {
    const SymShape* x = shape(graph, node.input(0));
    for (std::size_t i = 1; x != nullptr && i < node.inputs.size(); ++i) {
      const SymShape* other = shape(graph, node.inputs[i]);
      if (other != nullptr) aligned(*x, *other, 0, node);
    }
  }

  void conv(const Graph& graph, const Node& node) {
    const SymShape* x = shape(graph, node.input(0));
    const SymShape* w = shape(graph, node.input(1));
    if (x == nullptr || w == nullptr || x->size() < 3 || w->size() < 3) return;
    tie((*x)[1], (*w)[1] * Dim(node.attrs.integer("group")), false, node);
  }

  void recurrent(const Graph& graph, const Node& node) {
    const SymShape* x = shape(graph, node.input(0));
    const SymShape* w = shape(graph, node.input(1));
    if (x == nullptr || w == nullptr || x->size() != 3 || w->size() != 3) return;
    tie((*x)[2], (*w)[2], false, node);
  }

  void attention(const Graph& graph, const Node& node) {
    const SymShape* q = shape(graph, node.input(0));
    const SymShape* k = shape(graph, node.input(1));
    const SymShape* mask = shape(graph, node.input(3));
    if (q == nullptr || k == nullptr || q->size() != 4 || k->size() != 4) return;
    tie((*q)[0], (*k)[0], true, node);
    if (mask == nullptr || mask->empty()) return;
    const std::string layout = node.attrs.text("k_layout", "bhsd");
    const Dim& keys = (*k)[layout == "bshd" ? 1 : layout == "bhds" ? 3 : 2];
    const Dim& queries = (*q)[node.attrs.text("q_layout", "bhsd") == "bshd" ? 1 : 2];
    tie(mask->back(), keys, true, node);
    if (mask->size() >= 2) tie((*mask)[mask->size() - 2], queries, true, node);
  }
};

}  // namespace

std::vector<ShapeTie> shape_ties(const Graph& graph) {
  Collector collector;
  collector.collect(graph);
  return std::move(collector.ties);
}

void solve_ties(const std::vector<ShapeTie>& ties, Bindings& bindings) {
  for (bool changed = true; changed;) {
    const std::size_t before = bindings.size();
    for (const ShapeTie& tie : ties) {
      for (const auto& [open, known] : {std::pair(tie.a, tie.b), std::pair(tie.b, tie.a)}) {
        const auto extent = known.evaluate(bindings);
        if (!extent || open.evaluate(bindings)) continue;
        if (tie.broadcast && *extent == 1) continue;
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
  for (const ShapeTie& tie : ties) {
    const auto a = tie.a.evaluate(bindings);
    const auto b = tie.b.evaluate(bindings);
    if (!a || !b || *a == *b || (tie.broadcast && (*a == 1 || *b == 1))) continue;
    return tie.node + " needs " + tie.a.to_string() + " = " + tie.b.to_string() +
           ", but they are " + std::to_string(*a) + " and " + std::to_string(*b);
  }
  return std::nullopt;
}

}  // namespace concord::graph
