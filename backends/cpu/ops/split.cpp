#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  return [axis = static_cast<int>(c.attrs().integer("axis"))](Planner& p) {
    const View whole = p.view(0);
    const auto size = static_cast<std::int64_t>(element_bytes(whole.dtype));
    std::int64_t start = 0;
    for (int i = 0; i < p.output_count(); ++i) {
      if (!p.has_output(i)) {
        throw Error(ErrorKind::failed, "internal: a part of a split has no value");
      }
      View part = whole;
      part.shape = p.out_shape(i);
      part.at.offset += start * whole.strides[axis] * size;
      start += part.shape[axis];
      p.place(i, part);
    }
  };
}

}  // namespace

const Lowering cpu_split{
    .why_unsupported = why_not_movable, .prepare = prepare_movement<prepare>, .view_inputs = 1};

}  // namespace concord::cpu
