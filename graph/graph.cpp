#include "graph/graph.h"

#include <algorithm>
#include <array>
#include <deque>
#include <set>

#include "graph/error.h"
#include "graph/text.h"

namespace concord::graph {
namespace {

constexpr std::array kOpNames = {
#define CONCORD_OP(name) std::string_view(#name),
#include "graph/ops.def"
#undef CONCORD_OP
};

}  // namespace

std::string_view to_string(OpKind op) {
  return kOpNames[static_cast<std::size_t>(op)];
}

std::optional<OpKind> parse_op(std::string_view name) {
  for (std::size_t i = 0; i < kOpNames.size(); ++i) {
    if (kOpNames[i] == name) return static_cast<OpKind>(i);
  }
  return std::nullopt;
}

ValueId Graph::add_value(Value value) {
  const ValueId id{static_cast<std::int32_t>(values_.size())};
  values_.push_back(std::move(value));
  return id;
}

ValueId Graph::add_value(std::string value_name, DataType dtype, std::optional<SymShape> shape) {
  Value value;
  value.name = std::move(value_name);
  value.dtype = dtype;
  value.shape = std::move(shape);
  return add_value(std::move(value));
}

ValueId Graph::add_constant(std::string value_name, Tensor tensor) {
  Value value;
  value.name = std::move(value_name);
  value.dtype = tensor.dtype();
  value.shape = SymShape(tensor.shape().begin(), tensor.shape().end());
  value.constant = std::move(tensor);
  return add_value(std::move(value));
}

NodeId Graph::add_node(Node node, NodeId before) {
  const NodeId id{static_cast<std::int32_t>(nodes_.size())};
  if (node.sources.empty()) node.sources = {id};
  for (const ValueId output : node.outputs) {
    if (output.valid()) value(output).producer = id;
  }
  nodes_.push_back(std::move(node));
  if (before.valid()) {
    order_.insert(std::find(order_.begin(), order_.end(), before), id);
  } else {
    order_.push_back(id);
  }
  return id;
}

void Graph::remove_node(NodeId id) {
  Node& gone = node(id);
  gone.removed = true;
  for (const ValueId output : gone.outputs) {
    if (output.valid() && value(output).producer == id) value(output).producer = {};
  }
  std::erase(order_, id);
}

void Graph::sort() {
  std::vector<int> missing(nodes_.size(), 0);
  std::vector<std::vector<NodeId>> readers(values_.size());
  for (const NodeId id : order_) {
    std::set<ValueId> distinct(node(id).inputs.begin(), node(id).inputs.end());
    for (const ValueId input : distinct) {
      if (!input.valid() || !value(input).producer.valid()) continue;
      ++missing[static_cast<std::size_t>(id.index)];
      readers[static_cast<std::size_t>(input.index)].push_back(id);
    }
  }
  // Always the earliest ready node of the old order, so that a sorted graph stays as it is.
  std::vector<std::size_t> position(nodes_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    position[static_cast<std::size_t>(order_[i].index)] = i;
  }
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (missing[static_cast<std::size_t>(order_[i].index)] == 0) ready.insert(i);
  }
  std::vector<NodeId> sorted;
  while (!ready.empty()) {
    const NodeId id = order_[*ready.begin()];
    ready.erase(ready.begin());
    sorted.push_back(id);
    for (const ValueId output : node(id).outputs) {
      if (!output.valid()) continue;
      for (const NodeId reader : readers[static_cast<std::size_t>(output.index)]) {
        if (--missing[static_cast<std::size_t>(reader.index)] == 0) {
          ready.insert(position[static_cast<std::size_t>(reader.index)]);
        }
      }
    }
  }
  if (sorted.size() != order_.size()) {
    for (const NodeId id : order_) {
      if (missing[static_cast<std::size_t>(id.index)] > 0) {
        throw Error(ErrorKind::invalid, describe(node(id)) + " is on a cycle",
                    "a model's nodes may not depend on their own results; export it again");
      }
    }
  }
  order_ = std::move(sorted);
}

std::vector<std::vector<NodeId>> Graph::users() const {
  std::vector<std::vector<NodeId>> result(values_.size());
  for (const NodeId id : order_) {
    for (const ValueId input : node(id).inputs) {
      if (!input.valid()) continue;
      auto& list = result[static_cast<std::size_t>(input.index)];
      if (list.empty() || list.back() != id) list.push_back(id);
    }
  }
  return result;
}

bool Graph::is_output(ValueId id) const {
  return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
}

bool Graph::is_input(ValueId id) const {
  return std::find(inputs.begin(), inputs.end(), id) != inputs.end();
}

std::optional<ValueId> Graph::find_value(std::string_view value_name) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].name == value_name) return ValueId{static_cast<std::int32_t>(i)};
  }
  return std::nullopt;
}

std::vector<std::string> Graph::input_symbols() const {
  std::set<std::string> names;
  for (const ValueId id : inputs) {
    if (!value(id).shape) continue;
    for (const Dim& dim : *value(id).shape) dim.collect_symbols(names);
  }
  return {names.begin(), names.end()};
}

Graph subgraph(const Graph& graph, std::vector<NodeId> nodes, std::vector<ValueId> inputs,
               std::vector<ValueId> outputs) {
  Graph result = graph;
  result.set_order(std::move(nodes));
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  for (const ValueId id : result.inputs) result.value(id).producer = {};
  return result;
}

std::string describe(const Node& node) {
  const std::string what =
      node.source_op.empty() ? std::string(to_string(node.op)) : node.source_op;
  // While a model is being read its names are still as the file has them.
  return node.name.empty() ? "node " + what : "node '" + printable(node.name) + "' (" + what + ")";
}

}  // namespace concord::graph
