#include "backends/ranks.h"

#include <map>
#include <string>
#include <utility>
#include <variant>

#include "graph/schema.h"

namespace concord {

using graph::Graph;

const graph::Value* input_of_any_rank(const Graph& graph) {
  for (const graph::ValueId id : graph.inputs) {
    if (!graph.value(id).shape) return &graph.value(id);
  }
  return nullptr;
}

std::vector<std::int64_t> ranks_of(std::span<const Tensor> inputs) {
  std::vector<std::int64_t> ranks;
  for (const Tensor& input : inputs) ranks.push_back(input.rank());
  return ranks;
}

std::vector<std::int64_t> ranks_of(const Graph& graph,
                                   const std::map<std::string, Tensor>& inputs) {
  std::vector<std::int64_t> ranks;
  for (const graph::ValueId id : graph.inputs) {
    const auto it = inputs.find(graph.value(id).name);
    ranks.push_back(it != inputs.end() ? it->second.rank() : 0);
  }
  return ranks;
}

namespace {

// Dynamic symbols of the graph as it was, for what is known now: an operand that became known
// turned into an attribute, which still speaks of them.
std::map<std::string, Dim> decided(const Graph& before, const Graph& now) {
  std::map<std::string, Dim> known;
  const auto compare = [&known](const std::vector<Dim>& old, const std::vector<Dim>& made) {
    if (old.size() != made.size()) return;
    for (std::size_t i = 0; i < old.size(); ++i) {
      const auto symbol = old[i].symbol_name();
      if (symbol && symbol->starts_with('?') && !(old[i] == made[i])) {
        known.emplace(*symbol, made[i]);
      }
    }
  };
  for (std::size_t i = 0; i < before.value_count(); ++i) {
    const graph::ValueId id{static_cast<std::int32_t>(i)};
    const graph::Value& old = before.value(id);
    const graph::Value& made = now.value(id);
    if (old.shape && made.shape) compare(*old.shape, *made.shape);
    if (old.contents && made.contents) compare(*old.contents, *made.contents);
  }
  return known;
}

// In the attributes of all nodes, those of bodies included; whether there was any.
bool replace(const std::map<std::string, Dim>& known, Graph& graph) {
  if (known.empty()) return false;
  bool any = false;
  for (const graph::NodeId id : graph.order()) {
    graph::Node& node = graph.node(id);
    std::map<std::string, SymShape> changed;
    for (const auto& [name, value] : node.attrs) {
      const auto* dims = std::get_if<SymShape>(&value);
      if (dims == nullptr) continue;
      SymShape replaced;
      for (const Dim& dim : *dims) replaced.push_back(dim.substitute(known));
      if (!(replaced == *dims)) changed.emplace(name, std::move(replaced));
    }
    for (auto& [name, dims] : changed) node.attrs.set(name, std::move(dims));
    any = any || !changed.empty();
    for (Graph& body : node.bodies) any = replace(known, body) || any;
  }
  return any;
}

}  // namespace

std::shared_ptr<const Graph> with_ranks(std::shared_ptr<const Graph> graph,
                                        std::span<const std::int64_t> ranks) {
  if (input_of_any_rank(*graph) == nullptr) return graph;
  auto ranked = std::make_shared<Graph>(*graph);
  for (std::size_t i = 0; i < ranked->inputs.size() && i < ranks.size(); ++i) {
    graph::Value& value = ranked->value(ranked->inputs[i]);
    if (value.shape) continue;
    SymShape shape;
    for (std::int64_t axis = 0; axis < ranks[i]; ++axis) {
      shape.push_back(Dim::symbol(value.name + "." + std::to_string(axis)));
    }
    value.shape = std::move(shape);
  }
  // What is decided may decide what was computed of it. Symbols that inference makes anew each time
  // would go on for ever.
  constexpr int most = 8;
  bool changed = true;
  for (int round = 0; changed && round < most; ++round) {
    const Graph before = *ranked;
    graph::infer(*ranked);
    changed = replace(decided(before, *ranked), *ranked);
  }
  return ranked;
}

Bindings bindings_of(const Graph& graph, std::span<const Tensor> inputs) {
  Bindings bindings;
  for (std::size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i) {
    const auto& shape = graph.value(graph.inputs[i]).shape;
    if (shape) static_cast<void>(bind_shape(*shape, inputs[i].shape(), bindings));
  }
  return bindings;
}

}  // namespace concord
