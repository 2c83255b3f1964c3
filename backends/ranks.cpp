#include "backends/ranks.h"

#include <utility>

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
  graph::infer(*ranked);
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
