#include "backends/cpu/ops/recurrent_plan.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  return why_not_recurrent(graph, node, Cell::rnn);
}

PlanFn prepare(Compiler& c) {
  return prepare_recurrent(c, Cell::rnn);
}

}  // namespace

const Lowering cpu_rnn{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
