#include "backends/reference/evaluate_graph.h"

#include <cmath>

#include "backends/reference/noise.h"
#include "backends/reference/parallel.h"
#include "backends/reference/rounding.h"
#include "graph/error.h"
#include "graph/operand_errors.h"

namespace concord::reference {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

std::size_t at(ValueId id) {
  return static_cast<std::size_t>(id.index);
}

class Run {
 public:
  Run(const Graph& graph, Bindings bindings, const GraphOptions& options)
      : graph_(graph),
        bindings_(std::move(bindings)),
        options_(options),
        values_(graph.value_count()),
        uses_(graph.value_count(), 0) {
    for (const NodeId id : graph.order()) {
      for (const ValueId input : graph.node(id).inputs) {
        if (input.valid()) ++uses_[at(input)];
      }
    }
    for (const ValueId output : graph.outputs) ++uses_[at(output)];
  }

  std::vector<OracleValue> operator()(std::span<const OracleValue> inputs) {
    if (inputs.size() != graph_.inputs.size()) {
      throw Error(ErrorKind::failed, "internal: " + std::to_string(inputs.size()) +
                                         " inputs for a graph of " +
                                         std::to_string(graph_.inputs.size()));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const ValueId id = graph_.inputs[i];
      if (inputs[i].value.defined()) bind(id, inputs[i], ErrorKind::usage);
      keep(id, inputs[i]);
    }
    std::size_t done = 0;
    for (const NodeId id : graph_.order()) {
      step(graph_.node(id));
      if (options_.on_progress) options_.on_progress(++done, graph_.order().size());
    }
    std::vector<OracleValue> outputs;
    for (const ValueId id : graph_.outputs) outputs.push_back(read(id));
    return outputs;
  }

 private:
  // Symbols get their values from the extents met; extents that contradict them are an error.
  void bind(ValueId id, const OracleValue& value, ErrorKind kind) {
    const graph::Value& declared = graph_.value(id);
    if (!declared.shape) return;
    if (const auto problem = bind_shape(*declared.shape, value.value.shape(), bindings_)) {
      throw Error(kind, "'" + declared.name + "' " + *problem);
    }
  }

  void keep(ValueId id, OracleValue value) {
    if (options_.on_value && value.value.defined()) options_.on_value(id, value);
    if (uses_[at(id)] > 0) values_[at(id)] = std::move(value);
  }

  // A constant becomes an oracle's value at its first use.
  const OracleValue& read(ValueId id) {
    OracleValue& value = values_[at(id)];
    if (!value.value.defined() && graph_.value(id).constant) {
      value = view_of(*graph_.value(id).constant);
      if (options_.on_value) options_.on_value(id, value);
    }
    return value;
  }

  void release(ValueId id) {
    if (id.valid() && --uses_[at(id)] == 0) values_[at(id)] = {};
  }

  void step(const Node& node) {
    std::vector<OracleValue> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(id.valid() ? read(id) : OracleValue{});
    Numerics numerics;
    numerics.sigma = options_.sigma || options_.noise.has_value();
    if (numerics.sigma) {
      numerics.precision =
          options_.precision ? options_.precision(graph_, node) : default_precision(graph_, node);
    }
    std::vector<OracleValue> outputs;
    try {
      outputs = evaluate(graph_, node, inputs, bindings_, numerics, &options_);
      for (std::size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i) {
        const ValueId id = node.outputs[i];
        if (!id.valid() || !outputs[i].value.defined()) continue;
        bind(id, outputs[i], ErrorKind::invalid);
        if (options_.noise) {
          add_noise(outputs[i], numerics.precision.store,
                    options_.noise->seed + static_cast<std::uint64_t>(id.index));
        }
        if (!options_.sigma) outputs[i].sigma = {};
      }
    } catch (const Error& error) {
      std::vector<Tensor> operands;
      for (const OracleValue& input : inputs) operands.push_back(input.value);
      throw graph::with_operands(graph::at_node(error, graph_, node), graph_, node, operands);
    }
    for (std::size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i) {
      if (node.outputs[i].valid()) keep(node.outputs[i], std::move(outputs[i]));
    }
    for (const ValueId id : node.inputs) release(id);
  }

  const Graph& graph_;
  Bindings bindings_;
  const GraphOptions& options_;
  std::vector<OracleValue> values_;
  std::vector<int> uses_;
};

}  // namespace

StepPrecision default_precision(const Graph& graph, const Node& node) {
  DataType declared = DataType::undefined;
  for (const ValueId id : node.outputs) {
    if (declared == DataType::undefined && id.valid() && is_float(graph.value(id).dtype)) {
      declared = graph.value(id).dtype;
    }
  }
  for (const ValueId id : node.inputs) {
    if (declared == DataType::undefined && id.valid() && is_float(graph.value(id).dtype)) {
      declared = graph.value(id).dtype;
    }
  }
  StepPrecision precision;
  if (declared == DataType::f64) return {DataType::f64, DataType::f64, DataType::f64, false};
  if (declared != DataType::undefined) precision.operand = precision.store = declared;
  return precision;
}

std::vector<OracleValue> evaluate_graph(const Graph& graph, std::span<const OracleValue> inputs,
                                        Bindings bindings, const GraphOptions& options) {
  return Run(graph, std::move(bindings), options)(inputs);
}

std::vector<OracleValue> evaluate_graph(const Graph& graph, std::span<const Tensor> inputs,
                                        Bindings bindings, const GraphOptions& options) {
  std::vector<OracleValue> values;
  for (const Tensor& tensor : inputs) values.push_back(from_tensor(tensor));
  return evaluate_graph(graph, values, std::move(bindings), options);
}

}  // namespace concord::reference
