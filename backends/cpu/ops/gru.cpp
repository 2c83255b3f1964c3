#include "backends/cpu/ops/recurrent_plan.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  return why_not_recurrent(graph, node, Cell::gru);
}

PlanFn prepare(Compiler& c) {
  return prepare_recurrent(c, Cell::gru);
}

}  // namespace

const Lowering cpu_gru{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
