#include "parity/step_oracle.h"

#include <algorithm>

#include "backends/reference/rounding.h"
#include "graph/error.h"
#include "parity/bodies.h"

namespace concord::parity {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::ValueId;
using reference::OracleValue;

namespace {

// The smaller type in which a step had the model's floats of `declared`; undefined where it had
// them as they are declared. A backend that keeps values so writes them so; of a step that writes
// no floats, what it read tells.
DataType kept_as(DataType declared, const Graph& graph, const Node& node,
                 const StepPrecision& precision) {
  const auto type_of = [&](ValueId id) {
    return id.valid() ? graph.value(id).dtype : DataType::undefined;
  };
  const bool writes_floats = is_float(type_of(node.output(0)));
  const ValueId shown = writes_floats || node.inputs.empty() ? node.output(0) : node.inputs[0];
  const DataType kept = writes_floats ? precision.store : precision.operand;
  if (type_of(shown) != declared || !is_float(declared) || !is_float(kept)) {
    return DataType::undefined;
  }
  const bool smaller = reference::unit_roundoff(kept) > reference::unit_roundoff(declared);
  return smaller ? kept : DataType::undefined;
}

// Operands from which a plan is made, rather than values that it reads.
bool makes_the_plan(OpKind op, std::size_t i) {
  return (op == OpKind::resize && i > 0) || (op == OpKind::matmul_nbits && i == 2);
}

}  // namespace

StepOracle::StepOracle(const Graph& optimised, const std::map<TapKey, Tensor>& taps,
                       const std::vector<Tensor>& inputs)
    : optimised_(optimised), taps_(taps), inputs_(inputs) {
  for (std::size_t i = 0; i < inputs.size() && i < optimised.inputs.size(); ++i) {
    bind(optimised, optimised.inputs[i], inputs[i]);
  }
  for (const auto& [key, tensor] : taps) {
    const Graph* graph = find_body(optimised, key.first);
    if (graph != nullptr) bind(*graph, ValueId{key.second}, tensor);
  }
}

void StepOracle::bind(const Graph& graph, ValueId id, const Tensor& tensor) {
  const auto& shape = graph.value(id).shape;
  if (shape) static_cast<void>(bind_shape(*shape, tensor.shape(), bindings_));
}

const Graph* StepOracle::body(const WorkerStep& step) const {
  return find_body(optimised_, step.path);
}

const Node& StepOracle::node(const WorkerStep& step) const {
  return find_body(optimised_, step.path)->node(NodeId{step.node});
}

std::optional<Tensor> StepOracle::find(const Graph& graph, const BodyPath& path, ValueId id) const {
  if (const auto tap = taps_.find({path, id.index}); tap != taps_.end()) return tap->second;
  const graph::Value& value = graph.value(id);
  if (value.constant) return *value.constant;
  const auto input = std::find(graph.inputs.begin(), graph.inputs.end(), id);
  if (input != graph.inputs.end()) {
    const auto index = static_cast<std::size_t>(input - graph.inputs.begin());
    if (path.empty()) return inputs_.at(index);
    const BodyPath outer(path.begin(), path.end() - 1);
    const Graph* parent = find_body(optimised_, outer);
    const Node& node = parent->node(NodeId{path.back().first});
    if (node.op != OpKind::if_then_else) return std::nullopt;
    return find(*parent, outer, node.inputs.at(index + 1));
  }
  if (!value.producer.valid() || !value.shape) return std::nullopt;
  const Node& producer = graph.node(value.producer);
  if (producer.op != OpKind::reshape) return std::nullopt;
  const auto source = find(graph, path, producer.inputs[0]);
  const auto shape = concord::evaluate(*value.shape, bindings_);
  if (!source || !shape || element_count(*shape) != source->count()) return std::nullopt;
  return source->reshaped(*shape);
}

std::vector<Tensor> StepOracle::results(const WorkerStep& step) const {
  std::vector<Tensor> tensors;
  for (const ValueId id : node(step).outputs) {
    const auto tap = id.valid() ? taps_.find({step.path, id.index}) : taps_.end();
    tensors.push_back(tap != taps_.end() ? tap->second : Tensor());
  }
  return tensors;
}

std::optional<std::vector<Tensor>> StepOracle::operands(const WorkerStep& step) const {
  const Graph* graph = body(step);
  if (graph == nullptr) return std::nullopt;
  const Node& node = graph->node(NodeId{step.node});
  if (!node.bodies.empty()) return std::nullopt;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (!id.valid()) {
      tensors.emplace_back();
      continue;
    }
    const auto tensor = find(*graph, step.path, id);
    if (!tensor) return std::nullopt;
    tensors.push_back(*tensor);
    // Constants and the model's inputs were rounded when they were stored.
    const DataType kept = kept_as(tensor->dtype(), *graph, node, step.precision);
    if (kept == DataType::undefined || makes_the_plan(node.op, i)) continue;
    const Tensor rounded = reference::narrowed(reference::widened(*tensor), kept);
    tensors.back() = reference::narrowed(reference::widened(rounded), tensor->dtype());
  }
  return tensors;
}

std::optional<std::vector<OracleValue>> StepOracle::evaluate(
    const WorkerStep& step, const std::vector<Tensor>& operands) const {
  std::vector<OracleValue> values;
  for (const Tensor& tensor : operands) {
    values.push_back(tensor.defined() ? reference::from_tensor(tensor) : OracleValue());
  }
  reference::Numerics numerics;
  numerics.precision = step.precision;
  numerics.sigma = true;
  try {
    return reference::evaluate(*body(step), node(step), values, bindings_, numerics);
  } catch (const Error&) {
    return std::nullopt;  // its outputs' verdict tells; the step alone cannot be judged
  }
}

std::optional<Shape> StepOracle::shape_of(const Graph& graph, const BodyPath& path,
                                          ValueId id) const {
  const graph::Value& value = graph.value(id);
  if (value.shape) {
    if (auto shape = concord::evaluate(*value.shape, bindings_)) return shape;
  }
  const auto tensor = find(graph, path, id);
  if (!tensor) return std::nullopt;
  return tensor->shape();
}

}  // namespace concord::parity
