#include "backends/cpu/states.h"

#include <algorithm>

#include "backends/cpu/element.h"

namespace concord::cpu {
namespace {

using graph::Graph;
using graph::Node;
using graph::OpKind;

const Unit* maker_of(const ProgramLayout& layout, int value) {
  const auto maker = std::ranges::find_if(layout.units, [&](const Unit& unit) {
    return std::ranges::find(unit.outputs, value) != unit.outputs.end();
  });
  return maker == layout.units.end() ? nullptr : &*maker;
}

// Adds zeros behind the end of one axis, and nothing else.
bool pads_behind(const Node& pad, int axis) {
  if (!pad.attrs.has("pads") || pad.has_input(2)) return false;
  if (pad.attrs.text("mode", "constant") != "constant") return false;
  const auto& pads = pad.attrs.dims("pads");
  for (std::size_t i = 0; i < pads.size(); ++i) {
    const bool may = i == pads.size() / 2 + static_cast<std::size_t>(axis);
    if (!may && !pads[i].is_constant(0)) return false;
  }
  return true;
}

// How `present` is made from `past`: by a concatenation behind it, or by scattering along an axis
// into a copy that is padded there. Nullopt for other ways.
std::optional<StateInfo> growth(const Graph& graph, const ProgramLayout& layout, int past,
                                int present) {
  const Unit* maker = maker_of(layout, present);
  if (maker == nullptr) return std::nullopt;
  const Node& node = graph.node(maker->node);
  if (node.op == OpKind::concat && maker->inputs[0] == past) {
    return StateInfo{past, present, static_cast<int>(node.attrs.integer("axis")), -1};
  }
  if (node.op != OpKind::scatter_elements) return std::nullopt;
  const int padded = maker->inputs[0];
  const Unit* pad = maker_of(layout, padded);
  const int axis = static_cast<int>(node.attrs.integer("axis"));
  const bool fits = pad != nullptr && graph.node(pad->node).op == OpKind::pad &&
                    pad->inputs[0] == past && pads_behind(graph.node(pad->node), axis) &&
                    node.attrs.text("reduction", "none") == "none" &&
                    layout.values[static_cast<std::size_t>(padded)].uses == 1 &&
                    element_of(layout.values[static_cast<std::size_t>(present)].dtype);
  return fits ? std::optional(StateInfo{past, present, axis, padded}) : std::nullopt;
}

}  // namespace

std::optional<std::string> mark_state(const Graph& graph, ProgramLayout& layout, std::size_t input,
                                      std::size_t output) {
  const int past = layout.graph_inputs[input];
  const int present = layout.graph_outputs[output];
  if (element_bytes(layout.values[static_cast<std::size_t>(present)].dtype) == 0) {
    return "its elements are no whole bytes";
  }
  const auto info = growth(graph, layout, past, present);
  if (!info) return "the output is not the input with something appended";
  if (layout.values[static_cast<std::size_t>(past)].uses != 1) {
    return "the input is read by more than the step that appends to it";
  }
  for (const Unit& unit : layout.units) {
    if (std::ranges::find(unit.inputs, present) == unit.inputs.end()) continue;
    const Node& node = graph.node(unit.node);
    if (node.op != OpKind::attention) return describe(node) + " reads the output as dense memory";
  }
  for (const int value : {info->input, info->output, info->padded}) {
    if (value < 0) continue;
    layout.values[static_cast<std::size_t>(value)].state = static_cast<int>(layout.states.size());
  }
  layout.states.push_back(*info);
  return std::nullopt;
}

}  // namespace concord::cpu
