#include "backends/cpu/kernels/cast.h"

#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (element_of(input_dtype(graph, node, 0)) && element_of(output_dtype(graph, node))) {
    return std::nullopt;
  }
  return why_not_host(graph, node);
}

PlanFn prepare(Compiler& c) {
  if (!element_of(c.dtype(0)) || !element_of(c.out_value().dtype)) return prepare_host(c);
  if (c.dtype(0) == c.out_value().dtype) {
    return [](Planner& p) { p.place(0, p.view(0)); };
  }
  return [](Planner& p) {
    const Ref x = p.in(0);
    const std::int64_t count = p.out_shape().count();
    const Ref y = p.out_over(0, 1);
    p.emit("cast", 0,
           [x, y, from = element(p.dtype(0)), to = element(p.out_dtype()), count](const Frame& f) {
             convert(from, f.at(x), to, f.at(y), count);
           });
  };
}

}  // namespace

const Lowering cpu_cast{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
