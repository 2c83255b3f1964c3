#include "backends/cpu/states.h"

#include <algorithm>

#include "backends/cpu/element.h"

namespace concord::cpu {

using graph::OpKind;

std::optional<std::string> mark_state(const graph::Graph& graph, ProgramLayout& layout,
                                      std::size_t input, std::size_t output) {
  const int past = layout.graph_inputs[input];
  const int present = layout.graph_outputs[output];
  ValueInfo& before = layout.values[static_cast<std::size_t>(past)];
  ValueInfo& after = layout.values[static_cast<std::size_t>(present)];
  if (element_bytes(after.dtype) == 0) return "its elements are no whole bytes";
  const auto maker = std::ranges::find_if(layout.units, [&](const Unit& unit) {
    return std::ranges::find(unit.outputs, present) != unit.outputs.end();
  });
  if (maker == layout.units.end() || graph.node(maker->node).op != OpKind::concat ||
      maker->inputs[0] != past) {
    return "the output is not the input with something appended";
  }
  if (before.uses != 1) return "the input is read by more than the step that appends to it";
  for (const Unit& unit : layout.units) {
    if (std::ranges::find(unit.inputs, present) == unit.inputs.end()) continue;
    const graph::Node& node = graph.node(unit.node);
    if (node.op != OpKind::attention) return describe(node) + " reads the output as dense memory";
  }
  const int axis = static_cast<int>(graph.node(maker->node).attrs.integer("axis"));
  before.state = after.state = static_cast<int>(layout.states.size());
  layout.states.push_back({past, present, axis});
  return std::nullopt;
}

}  // namespace concord::cpu
