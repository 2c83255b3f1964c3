#include "backends/cpu/kernels/norm.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  return why_not_float(graph, node, {0, 1, 2});
}

PlanFn prepare(Compiler& c) {
  return [groups = c.attrs().integer("groups"),
          epsilon = static_cast<float>(c.attrs().number("epsilon"))](Planner& p) {
    const Dims shape = p.shape(0);
    const std::int64_t batch = shape[0];
    const std::int64_t channels = shape[1];
    const std::int64_t spatial = shape.product(2, shape.rank());
    const Ref x = p.in_f32(0);
    const Ref gamma = p.in_f32(1);
    const Ref beta = p.in_f32(2);
    const Ref y = p.out_f32(0);
    p.emit("group_norm", 8.0 * static_cast<double>(shape.count()), [=](const Frame& f) {
      group_norm(batch, channels, spatial, groups == 0 ? channels : groups, f.at<const float>(x),
                 f.at<const float>(gamma), f.at<const float>(beta), epsilon, f.at<float>(y));
    });
  };
}

}  // namespace

const Lowering cpu_group_norm{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
