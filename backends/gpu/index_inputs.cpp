#include "backends/gpu/index_inputs.h"

#include <set>

namespace concord::gpu {
namespace {

// Which operand holds indices; −1: none does.
int index_operand(graph::OpKind op) {
  switch (op) {
    case graph::OpKind::gather:
    case graph::OpKind::gather_elements:
    case graph::OpKind::gather_nd:
    case graph::OpKind::scatter_elements:
    case graph::OpKind::scatter_nd:
      return 1;
    case graph::OpKind::rotary:
      return 3;
    default:
      return -1;
  }
}

bool passes_on(graph::OpKind op) {
  return op == graph::OpKind::cast || op == graph::OpKind::reshape ||
         op == graph::OpKind::transpose || op == graph::OpKind::broadcast;
}

}  // namespace

Error input_error(const graph::Graph& graph, graph::ValueId input, const Error& error) {
  std::set<std::int32_t> same = {input.index};
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    const int indices = index_operand(node.op);
    if (indices >= 0 && node.has_input(static_cast<std::size_t>(indices)) &&
        same.contains(node.input(static_cast<std::size_t>(indices)).index)) {
      return Error(ErrorKind::invalid,
                   describe(node) + ": index out of range in '" + graph.value(input).name +
                       "': " + error.what(),
                   "check the ids and positions among the inputs");
    }
    if (passes_on(node.op) && same.contains(node.input(0).index)) {
      same.insert(node.output().index);
    }
  }
  return error.with_context("input '" + graph.value(input).name + "'");
}

}  // namespace concord::gpu
