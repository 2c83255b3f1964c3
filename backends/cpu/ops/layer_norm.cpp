#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/norm_plan.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  return why_not_float(graph, node, {0, 1, 2, 3});
}

PlanFn prepare(Compiler& c) {
  return prepare_norm(c, {layer_norm, "layer_norm", 1, 2, 3});
}

}  // namespace

const Lowering cpu_layer_norm{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
