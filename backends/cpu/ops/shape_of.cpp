#include <algorithm>

#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  return [start = static_cast<int>(c.attrs().integer("start"))](Planner& p) {
    const Dims shape = p.shape(0);
    const auto count = static_cast<int>(p.out_shape().count());
    const Ref out = p.out();
    p.emit("shape_of", 0, [shape, start, count, out](const Frame& f) {
      std::copy_n(shape.begin() + start, count, f.at<std::int64_t>(out));
    });
  };
}

}  // namespace

const Lowering cpu_shape_of{.why_unsupported = any_node, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
