#include <algorithm>

#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (!node.attrs.has("starts")) return why_not_host(graph, node);
  return why_not_movable(graph, node);
}

PlanFn prepare(Compiler& c) {
  if (!c.attrs().has("starts")) return prepare_host(c);
  return [starts = c.dims("starts"), axes = c.integers("axes"),
          steps = c.attrs().integers("steps")](Planner& p) {
    View view = p.view(0);
    const std::int64_t size = static_cast<std::int64_t>(element_bytes(view.dtype));
    const Dims to = p.out_shape();
    if (to.count() > 0) {
      for (std::size_t i = 0; i < axes.size(); ++i) {
        const int axis = axes[i];
        const std::int64_t extent = view.shape[axis];
        std::int64_t start = p.value(starts[i]);
        if (start < 0) start += extent;
        start = std::clamp<std::int64_t>(start, 0, steps[i] < 0 ? extent - 1 : extent);
        view.at.offset += start * view.strides[axis] * size;
        view.strides[axis] *= steps[i];
      }
    }
    view.shape = to;
    p.place(0, view);
  };
}

}  // namespace

const Lowering cpu_slice{
    .why_unsupported = why_unsupported, .prepare = prepare_movement<prepare>, .view_inputs = 1};

}  // namespace concord::cpu
