#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (node.attrs.has("pads") && element_bytes(output_dtype(graph, node)) != 0) return std::nullopt;
  return why_not_host(graph, node);
}

PadMode mode_of(const std::string& text) {
  if (text == "reflect") return PadMode::reflect;
  if (text == "edge") return PadMode::edge;
  if (text == "wrap") return PadMode::wrap;
  return PadMode::constant;
}

PlanFn prepare(Compiler& c) {
  if (!c.attrs().has("pads") || element_bytes(c.out_value().dtype) == 0) return prepare_host(c);
  return [pads = c.dims("pads"), mode = mode_of(c.attrs().text("mode", "constant"))](Planner& p) {
    const Dims shape = p.shape(0);
    Dims before, after;
    for (int i = 0; i < shape.rank(); ++i) {
      before.push_back(p.value(pads[static_cast<std::size_t>(i)]));
      after.push_back(
          p.value(pads[static_cast<std::size_t>(shape.rank()) + static_cast<std::size_t>(i)]));
    }
    const Ref x = p.in(0);
    const Ref value = p.in(2);
    const std::size_t size = element_bytes(p.out_dtype());
    const Ref y = p.out();
    p.emit("pad", 0, [=](const Frame& f) {
      const std::uint64_t zeros[2] = {0, 0};
      const void* element = value ? static_cast<const void*>(f.at(value)) : zeros;
      pad(size, shape, f.at(x), before, after, mode, element, f.at(y));
    });
  };
}

}  // namespace

const Lowering cpu_pad{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
