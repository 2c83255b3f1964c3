#include "backends/reference/bodies.h"

#include "backends/reference/evaluate_graph.h"
#include "graph/error.h"

namespace concord::reference {

std::vector<OracleValue> run_body(const Call& call, const graph::Graph& body,
                                  std::span<const OracleValue> inputs) {
  GraphOptions options;
  if (call.options != nullptr) options = *call.options;
  options.on_value = nullptr;
  options.on_progress = nullptr;
  return evaluate_graph(body, inputs, call.bindings, options);
}

bool is_true(const OracleValue& condition, const std::string& name) {
  if (condition.value.count() != 1) {
    throw Error(ErrorKind::invalid, "condition '" + name + "' holds " +
                                        std::to_string(condition.value.count()) +
                                        " elements instead of one");
  }
  return condition.value.at_int(0) != 0;
}

bool is_true(const Call& call, std::size_t operand) {
  call.input(operand);
  return is_true(call.inputs[operand], call.graph.value(call.node.input(operand)).name);
}

OracleValue no_slices(const Call& call, const graph::Graph& body, graph::ValueId output,
                      std::size_t axis) {
  const graph::Value& value = body.value(output);
  Shape shape;
  if (value.shape) {
    for (const Dim& dim : *value.shape) shape.push_back(dim.evaluate(call.bindings).value_or(0));
  }
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(std::min(axis, shape.size())), 0);
  return from_tensor(Tensor(value.dtype, std::move(shape)));
}

}  // namespace concord::reference
