#include <string>
#include <unordered_map>

#include "graph/passes/list.h"
#include "graph/passes/rewriter.h"

namespace concord::graph {
namespace {

void append(std::string& key, std::int64_t v) {
  key.append(reinterpret_cast<const char*>(&v), sizeof v);
}

// Nodes with equal keys compute the same.
std::string key_of(const Node& node) {
  std::string key;
  key.push_back(static_cast<char>(node.op));
  append(key, static_cast<std::int64_t>(node.outputs.size()));
  for (const ValueId output : node.outputs) key.push_back(output.valid() ? '1' : '0');
  for (const ValueId input : node.inputs) append(key, input.index);
  for (const auto& [name, value] : node.attrs) {
    key += '\n';
    key += name;
    key += '=';
    if (const auto* number = std::get_if<double>(&value)) {
      key.append(reinterpret_cast<const char*>(number), sizeof *number);
    } else if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
      key.append(reinterpret_cast<const char*>(numbers->data()), numbers->size() * sizeof(double));
    } else if (const auto* tensor = std::get_if<Tensor>(&value)) {
      append(key, static_cast<std::int64_t>(tensor->dtype()));
      key += concord::to_string(std::span<const std::int64_t>(tensor->shape()));
      if (tensor->dtype() != DataType::string && tensor->bytes() <= 4096) {
        key.append(reinterpret_cast<const char*>(tensor->data()),
                   static_cast<std::size_t>(tensor->bytes()));
      } else {
        append(key, reinterpret_cast<std::intptr_t>(tensor->storage().get()));
      }
    } else {
      key += to_string(value);
    }
  }
  return key;
}

bool mergeable(const Graph& graph, const Node& node) {
  if (!node.bodies.empty()) return false;
  for (const ValueId output : node.outputs) {
    if (!output.valid()) continue;
    const Value& value = graph.value(output);
    if (!value.shape) return false;
    // Extents that a run binds when this very node has run.
    for (const Dim& d : *value.shape) {
      if (d.has_dynamic()) return false;
    }
  }
  return true;
}

// One value for small constants of equal bits, and for large ones in the same memory.
void merge_constants(Rewriter& rw) {
  std::unordered_map<std::string, ValueId> seen;
  const Graph& graph = rw.graph();
  std::vector<bool> visited(graph.value_count(), false);
  for (const NodeId id : rw.order()) {
    for (const ValueId input : std::vector<ValueId>(rw.node(id).inputs)) {
      if (!input.valid() || visited[static_cast<std::size_t>(input.index)]) continue;
      visited[static_cast<std::size_t>(input.index)] = true;
      const Value& value = graph.value(input);
      if (!value.constant || value.dtype == DataType::string || rw.is_output(input)) continue;
      const Tensor& t = *value.constant;
      std::string key;
      append(key, static_cast<std::int64_t>(t.dtype()));
      key += concord::to_string(std::span<const std::int64_t>(t.shape()));
      if (t.bytes() <= 256) {
        key.append(reinterpret_cast<const char*>(t.data()), static_cast<std::size_t>(t.bytes()));
      } else {
        append(key, reinterpret_cast<std::intptr_t>(t.data()));
      }
      const auto [it, fresh] = seen.emplace(std::move(key), input);
      if (!fresh) rw.redirect(input, it->second);
    }
  }
}

}  // namespace

int remove_duplicates(Graph& graph, const PassOptions&) {
  Rewriter rw(graph);
  merge_constants(rw);
  std::unordered_map<std::string, NodeId> seen;
  for (const NodeId id : rw.order()) {
    const Node& node = rw.node(id);
    if (node.removed || !mergeable(graph, node)) continue;
    const auto [it, fresh] = seen.emplace(key_of(node), id);
    if (fresh) continue;
    const std::vector<ValueId> outputs = node.outputs;
    const std::vector<ValueId> first = rw.node(it->second).outputs;
    bool all = true;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      if (!outputs[o].valid() || rw.uses(outputs[o]) == 0) continue;
      // The first one goes on writing a value that is an output of the graph.
      all = !rw.is_output(outputs[o]) && rw.redirect(outputs[o], first[o]) && all;
    }
    if (all) rw.remove(id);
  }
  return rw.changes();
}

}  // namespace concord::graph
