#include "backends/gpu/index_inputs.h"

#include <set>

#include "graph/operand_errors.h"

namespace concord::gpu {
namespace {

constexpr const char* kCheckInputs = "check the ids and positions among the inputs";

bool passes_on(graph::OpKind op) {
  return op == graph::OpKind::cast || op == graph::OpKind::reshape ||
         op == graph::OpKind::transpose || op == graph::OpKind::broadcast;
}

}  // namespace

Error input_error(const graph::Graph& graph, graph::ValueId input, const Error& error) {
  std::set<std::int32_t> same = {input.index};
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    const int indices = graph::checked_operand(node);
    if (indices >= 0 && node.has_input(static_cast<std::size_t>(indices)) &&
        same.contains(node.input(static_cast<std::size_t>(indices)).index)) {
      return Error(ErrorKind::invalid,
                   describe(node) + ": index out of range in '" + graph.value(input).name +
                       "': " + error.what(),
                   kCheckInputs);
    }
    if (passes_on(node.op) && same.contains(node.input(0).index)) {
      same.insert(node.output().index);
    }
  }
  return error.with_context("input '" + graph.value(input).name + "'");
}

Error fault_error(const graph::Graph& graph, const graph::Node& node, std::int64_t value,
                  std::int64_t extent) {
  const std::string v = std::to_string(value);
  const std::string axis = " an axis of " + std::to_string(extent);
  const auto at_node = [&](const std::string& text, const char* hint = kCheckInputs) {
    return graph::at_node(Error(ErrorKind::invalid, text, hint), graph, node);
  };
  switch (node.op) {
    case graph::OpKind::binary:
      return at_node("division by zero",
                     "integers have no infinity to give; check the model's inputs");
    case graph::OpKind::cum_prod:
    case graph::OpKind::cum_sum:
      return at_node("axis " + v + " of a tensor of rank " + std::to_string(extent));
    case graph::OpKind::reverse_sequence:
      return at_node("length " + v + " is not within" + axis);
    case graph::OpKind::roi_align:
      if (extent < 0) return at_node("region " + v + " is too large to be sampled");
      return at_node("batch index " + v + " is outside a batch of " + std::to_string(extent));
    default:
      return at_node("index " + v + " is outside" + axis);
  }
}

}  // namespace concord::gpu
