#include "backends/partition.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "backends/host/host.h"
#include "graph/error.h"

namespace concord {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::ValueId;

bool is_control(OpKind op) {
  return op == OpKind::if_then_else || op == OpKind::loop || op == OpKind::scan;
}

// Operands that decide the shape of the result, still present because inference could not turn them
// into attributes (see graph/ops.def).
bool is_shape_operand(const Node& node, std::size_t index) {
  if (!node.has_input(index)) return false;
  switch (node.op) {
    case OpKind::constant_of:
    case OpKind::random:
      return index == 0;
    case OpKind::broadcast:
    case OpKind::reshape:
    case OpKind::tile:
    case OpKind::split:
    case OpKind::top_k:
    case OpKind::one_hot:
    case OpKind::reduce_dynamic:
      return index == 1;
    case OpKind::slice:
      return index >= 1;
    case OpKind::pad:
      return index == 1 || index == 3;
    case OpKind::dft:
      return index >= 1;
    case OpKind::resize:
      return index >= 2;
    case OpKind::range:
      return !node.attrs.has("length");  // else its ends are only values
    default:
      return false;
  }
}

void collect(const graph::Value& value, std::set<std::string>& symbols) {
  if (!value.shape) return;
  for (const Dim& dim : *value.shape) dim.collect_symbols(symbols);
}

// True if every extent of the outputs follows from the inputs' extents.
bool shapes_follow(const Graph& graph, const Node& node) {
  std::set<std::string> known;
  for (const ValueId id : node.inputs) {
    if (!id.valid()) continue;
    if (!graph.value(id).shape) return false;
    collect(graph.value(id), known);
  }
  for (const ValueId id : node.outputs) {
    if (!id.valid()) continue;
    if (!graph.value(id).shape) return false;
    std::set<std::string> symbols;
    collect(graph.value(id), symbols);
    for (const std::string& symbol : symbols) {
      if (symbol[0] == '?' && !known.contains(symbol)) return false;
    }
  }
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (is_shape_operand(node, i) && !graph.value(node.inputs[i]).is_constant()) return false;
  }
  return node.op != OpKind::nonzero && node.op != OpKind::unique &&
         node.op != OpKind::non_max_suppression;
}

// Values that feed nothing but shapes, axes and branch decisions, and strings.
std::vector<bool> host_values(const Graph& graph) {
  std::vector<bool> host(graph.value_count(), true);
  for (const ValueId id : graph.outputs) host[static_cast<std::size_t>(id.index)] = false;
  const auto& order = graph.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& node = graph.node(*it);
    bool by_nature = true;
    for (const ValueId id : node.outputs) {
      if (id.valid() && !host[static_cast<std::size_t>(id.index)]) by_nature = false;
    }
    const bool decides = is_control(node.op);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (!id.valid() || is_shape_operand(node, i)) continue;
      if (decides && i == 0 && node.op == OpKind::if_then_else) continue;
      if (decides && i < 2 && node.op == OpKind::loop) continue;
      if (by_nature && !decides && node.op != OpKind::shape_of) continue;
      if (node.op == OpKind::shape_of) continue;  // reads the extents, not the elements
      host[static_cast<std::size_t>(id.index)] = false;
    }
  }
  return host;
}

// Whether the node works on what no device holds: strings, sequences, optionals.
bool holds_objects(const Graph& graph, const Node& node) {
  const auto is_object = [&](ValueId id) {
    if (!id.valid()) return false;
    const DataType dtype = graph.value(id).dtype;
    return dtype == DataType::string || is_container(dtype);
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_object) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), is_object);
}

struct Missing {
  int nodes = 0;
  std::string reason;
  std::string example;
};

using MissingTable = std::map<std::pair<std::string, std::string>, Missing>;

std::string summary(const MissingTable& missing) {
  std::string text = "no backend here can run";
  const char* separator = " ";
  for (const auto& [key, row] : missing) {
    text += separator + key.first + " of " + key.second + " (" + std::to_string(row.nodes) +
            (row.nodes == 1 ? " node)" : " nodes)");
    separator = ", ";
  }
  return text;
}

std::string table(const MissingTable& missing) {
  std::string text = "choose another backend, or export the model without these:";
  for (const auto& [key, row] : missing) {
    text += "\n  " + key.first + " of " + key.second + ", first " + row.example + ": " + row.reason;
  }
  return text;
}

// The node that binds each dynamic symbol when it has run: the first whose result has it as an
// extent.
std::map<std::string, NodeId> binders(const Graph& graph) {
  std::map<std::string, NodeId> result;
  for (const NodeId id : graph.order()) {
    for (const ValueId output : graph.node(id).outputs) {
      if (!output.valid() || !graph.value(output).shape) continue;
      for (const Dim& dim : *graph.value(output).shape) {
        const auto name = dim.symbol_name();
        if (name && (*name)[0] == '?') result.emplace(*name, id);
      }
    }
  }
  return result;
}

// Dynamic symbols that a node needs bound before it runs: those of its attributes and of its
// results, except the ones that it binds itself.
std::vector<NodeId> waits_for(const Graph& graph, NodeId id,
                              const std::map<std::string, NodeId>& binders) {
  if (binders.empty()) return {};
  std::set<std::string> symbols;
  const Node& node = graph.node(id);
  for (const auto& [name, value] : node.attrs) {
    if (const auto* dims = std::get_if<SymShape>(&value)) {
      for (const Dim& dim : *dims) dim.collect_symbols(symbols);
    }
  }
  for (const ValueId output : node.outputs) {
    if (output.valid()) collect(graph.value(output), symbols);
  }
  std::vector<NodeId> result;
  for (const std::string& symbol : symbols) {
    const auto it = binders.find(symbol);
    if (it != binders.end() && it->second != id) result.push_back(it->second);
  }
  return result;
}

// A node joins the part of its own runner at its level. A change of runner on the way from a
// producer raises the level, and so does waiting for a symbol: no part waits for itself.
std::vector<int> levels(const Graph& graph, const std::vector<Runner>& runner) {
  const auto bound_by = binders(graph);
  std::vector<int> level(graph.node_count(), 0);
  // A binder may stand behind the node that waits for it, so this goes on until nothing moves; a
  // graph needs one more round for each symbol on a path at most.
  bool changed = true;
  for (std::size_t round = 0; changed && round <= bound_by.size() + 1; ++round) {
    changed = false;
    for (const NodeId id : graph.order()) {
      const auto i = static_cast<std::size_t>(id.index);
      const bool joins = runner[i] == Runner::device || runner[i] == Runner::cpu;
      int depth = level[i];
      for (const ValueId input : graph.node(id).inputs) {
        if (!input.valid()) continue;
        const NodeId producer = graph.value(input).producer;
        if (!producer.valid()) continue;
        const auto p = static_cast<std::size_t>(producer.index);
        depth = std::max(depth, level[p] + (joins && runner[p] == runner[i] ? 0 : 1));
      }
      for (const NodeId binder : waits_for(graph, id, bound_by)) {
        depth = std::max(depth, level[static_cast<std::size_t>(binder.index)] + 1);
      }
      if (depth == level[i]) continue;
      level[i] = depth;
      changed = true;
    }
  }
  return level;
}

}  // namespace

Partition partition(const Graph& graph, const Backend& backend,
                    const std::function<const Backend*()>& cpu) {
  Partition result;
  MissingTable missing;
  const std::vector<bool> host = host_values(graph);
  const bool on_cpu = backend.name() == "cpu";

  const auto is_host_node = [&](const Node& node) {
    return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return !id.valid() || host[static_cast<std::size_t>(id.index)];
    });
  };

  const auto choose = [&](const Node& node) {
    if (is_control(node.op)) return Runner::control;
    const auto host_reason = host::why_unsupported(graph, node);
    if (!host_reason && holds_objects(graph, node)) return Runner::host;
    const bool by_nature = is_host_node(node);
    std::string reason;
    if (shapes_follow(graph, node)) {
      if (by_nature && !host_reason) return Runner::host;
      const auto device_reason = backend.why_unsupported(graph, node);
      if (!device_reason) return Runner::device;
      reason = *device_reason;
      if (!on_cpu) {
        const Backend* other = cpu();
        if (other != nullptr && !other->why_unsupported(graph, node)) {
          result.fallbacks.push_back({NodeId{}, node.name, node.source_op, reason, by_nature});
          return Runner::cpu;
        }
      }
      if (!host_reason) {
        result.fallbacks.push_back({NodeId{}, node.name, node.source_op, reason, by_nature});
        return Runner::host;
      }
    } else {
      reason = "its shape depends on data";
      const bool ranked = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
        return !id.valid() || graph.value(id).dtype != DataType::undefined;
      });
      const bool decided = by_nature || on_cpu;
      if (!decided && ranked && !backend.why_unsupported(graph, node)) return Runner::single;
      if (!host_reason) {
        if (!decided) {
          result.fallbacks.push_back({NodeId{}, node.name, node.source_op, reason, by_nature});
        }
        return Runner::host;
      }
      if (ranked) return Runner::single;
      reason += ", and " + *host_reason;
    }
    const ValueId first = node.output();
    const std::string dtype =
        first.valid() ? std::string(to_string(graph.value(first).dtype)) : "undefined";
    Missing& row =
        missing[{node.source_op.empty() ? std::string(to_string(node.op)) : node.source_op, dtype}];
    if (row.nodes++ == 0) {
      row.reason = reason;
      row.example = graph::describe(node);
    }
    return Runner::host;
  };

  std::vector<Runner> runner(graph.node_count(), Runner::host);
  for (const NodeId id : graph.order()) {
    const std::size_t before = result.fallbacks.size();
    runner[static_cast<std::size_t>(id.index)] = choose(graph.node(id));
    if (result.fallbacks.size() > before) result.fallbacks.back().node = id;
  }
  if (!missing.empty()) {
    throw Error(ErrorKind::unsupported, summary(missing), table(missing));
  }

  const std::vector<int> level = levels(graph, runner);
  std::map<std::pair<int, Runner>, std::vector<NodeId>> groups;
  for (const NodeId id : graph.order()) {
    const auto i = static_cast<std::size_t>(id.index);
    groups[{level[i], runner[i]}].push_back(id);
  }
  const auto users = graph.users();
  for (auto& [key, nodes] : groups) {
    Part part;
    part.runner = key.second;
    part.nodes = std::move(nodes);
    const std::set<NodeId> inside(part.nodes.begin(), part.nodes.end());
    std::set<ValueId> seen;
    for (const NodeId id : part.nodes) {
      for (const ValueId input : graph.node(id).inputs) {
        if (!input.valid() || graph.value(input).is_constant()) continue;
        const NodeId producer = graph.value(input).producer;
        if (producer.valid() && inside.contains(producer)) continue;
        if (seen.insert(input).second) part.inputs.push_back(input);
      }
      for (const ValueId output : graph.node(id).outputs) {
        if (!output.valid()) continue;
        const auto& readers = users[static_cast<std::size_t>(output.index)];
        const bool outside = std::any_of(readers.begin(), readers.end(),
                                         [&](NodeId user) { return !inside.contains(user); });
        if (outside || graph.is_output(output)) part.outputs.push_back(output);
      }
    }
    result.parts.push_back(std::move(part));
  }
  return result;
}

}  // namespace concord
