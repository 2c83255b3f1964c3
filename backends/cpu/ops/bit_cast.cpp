#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (element_bytes(output_dtype(graph, node)) == 0) return why_not_host(graph, node);
  return std::nullopt;
}

PlanFn prepare(Compiler& c) {
  if (element_bytes(c.out_value().dtype) == 0) return prepare_host(c);
  return [](Planner& p) {
    View view = p.view(0);
    view.dtype = p.out_dtype();
    p.place(0, view);
  };
}

}  // namespace

const Lowering cpu_bit_cast{
    .why_unsupported = why_unsupported, .prepare = prepare, .passes_views = true};

}  // namespace concord::cpu
