#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (!element_of(output_dtype(graph, node))) return type_reason(output_dtype(graph, node));
  return std::nullopt;
}

PlanFn prepare(Compiler& c) {
  return [values = c.dims("values")](Planner& p) {
    std::vector<std::int64_t> numbers;
    for (DimRef ref : values) numbers.push_back(p.value(ref));
    const Ref y = p.out();
    p.emit("extents", 0, [numbers, y, to = element(p.out_dtype())](const Frame& f) {
      convert(Element::i64, numbers.data(), to, f.at(y), static_cast<std::int64_t>(numbers.size()));
    });
  };
}

}  // namespace

const Lowering cpu_dims{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
