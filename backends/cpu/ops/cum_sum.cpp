#include "backends/cpu/kernels/reduce.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

// The axis, where it is known when the program is made.
std::optional<int> axis_of(const graph::Graph& graph, const graph::Node& node) {
  if (node.attrs.has("axis")) return static_cast<int>(node.attrs.integer("axis"));
  if (!node.has_input(1)) return std::nullopt;
  const graph::Value& value = graph.value(node.input(1));
  if (!value.constant || value.constant->count() != 1) return std::nullopt;
  std::int64_t axis = value.constant->at_int(0);
  if (axis < 0) axis += static_cast<std::int64_t>(graph.value(node.input(0)).shape->size());
  return static_cast<int>(axis);
}

bool runs_here(const graph::Graph& graph, const graph::Node& node) {
  if (!axis_of(graph, node)) return false;
  switch (input_dtype(graph, node, 0)) {
    case DataType::f32:
    case DataType::f16:
    case DataType::bf16:
    case DataType::f64:
    case DataType::i32:
    case DataType::i64:
      return true;
    default:
      return false;
  }
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (runs_here(graph, node)) return std::nullopt;
  if (is_float(input_dtype(graph, node, 0))) return "an axis that only the run knows";
  return why_not_host(graph, node);
}

PlanFn prepare(Compiler& c) {
  if (!runs_here(c.graph(), c.node())) return prepare_host(c);
  return [axis = *axis_of(c.graph(), c.node()), exclusive = c.attrs().integer("exclusive", 0) != 0,
          reverse = c.attrs().integer("reverse", 0) != 0](Planner& p) {
    const Dims shape = p.shape(0);
    const std::int64_t outer = shape.product(0, axis);
    const std::int64_t inner = shape.product(axis + 1, shape.rank());
    const Element type = is_half(p.dtype(0)) ? Element::f32 : element(p.dtype(0));
    const Ref x = p.in_f32(0);
    const Ref y = p.out_f32(0);
    p.emit("cum_sum", static_cast<double>(shape.count()), [=, n = shape[axis]](const Frame& f) {
      cumulative_sum(type, outer, n, inner, f.at(x), f.at(y), exclusive, reverse);
    });
  };
}

}  // namespace

const Lowering cpu_cum_sum{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
