#include "parity/index_bounds.h"

#include <algorithm>
#include <set>

namespace concord::parity {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::ValueId;

using Bound = std::optional<std::int64_t>;

Bound least(Bound a, Bound b) {
  if (!a) return b;
  return b ? Bound(std::min(*a, *b)) : a;
}

Bound extent(const Graph& graph, ValueId id, std::int64_t axis) {
  const auto& shape = graph.value(id).shape;
  if (!shape || axis >= static_cast<std::int64_t>(shape->size())) return std::nullopt;
  return (*shape)[static_cast<std::size_t>(axis)].constant();
}

// A scalar constant that is added to the value.
Bound offset(const Graph& graph, const Node& node, ValueId id) {
  const std::string& fn = node.attrs.text("fn");
  const ValueId other = node.inputs[0] == id ? node.inputs[1] : node.inputs[0];
  const auto& constant = graph.value(other).constant;
  if (!constant || constant->count() != 1 || is_float(constant->dtype())) return std::nullopt;
  if (fn == "add") return constant->at_int(0);
  if (fn == "sub" && node.inputs[0] == id) return -constant->at_int(0);
  return std::nullopt;
}

class Search {
 public:
  Bound follow(const Graph& graph, ValueId id) {
    if (++visits_ > 10000) return std::nullopt;
    Bound bound;
    for (const NodeId user : graph.order()) {
      const Node& node = graph.node(user);
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] == id) bound = least(bound, through(graph, node, i, id));
      }
    }
    return bound;
  }

 private:
  Bound through(const Graph& graph, const Node& node, std::size_t input, ValueId id) {
    switch (node.op) {
      case OpKind::gather:
        return input == 1 ? extent(graph, node.inputs[0], node.attrs.integer("axis"))
                          : follow(graph, node.output());
      case OpKind::gather_elements:
        return input == 1 ? extent(graph, node.inputs[0], node.attrs.integer("axis"))
                          : follow(graph, node.output());
      case OpKind::cast: {
        if (is_float(graph.value(node.output()).dtype)) return std::nullopt;
        return follow(graph, node.output());
      }
      case OpKind::reshape:
      case OpKind::transpose:
      case OpKind::broadcast:
      case OpKind::slice:
      case OpKind::concat:
      case OpKind::tile:
      case OpKind::split: {
        Bound bound;
        for (const ValueId output : node.outputs) {
          if (output.valid()) bound = least(bound, follow(graph, output));
        }
        return bound;
      }
      case OpKind::select:
        return input >= 1 ? follow(graph, node.output()) : std::nullopt;
      case OpKind::binary: {
        const Bound shift = offset(graph, node, id);
        const Bound bound = shift ? follow(graph, node.output()) : std::nullopt;
        return bound ? Bound(*bound - *shift) : std::nullopt;
      }
      case OpKind::if_then_else: {
        Bound bound;
        for (const Graph& body : node.bodies) {
          if (input >= 1 && input - 1 < body.inputs.size()) {
            bound = least(bound, follow(body, body.inputs[input - 1]));
          }
        }
        return bound;
      }
      default:
        return std::nullopt;
    }
  }

  int visits_ = 0;
};

}  // namespace

std::optional<std::int64_t> index_bound(const Graph& graph, ValueId id) {
  return Search().follow(graph, id);
}

}  // namespace concord::parity
