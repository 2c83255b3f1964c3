#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  return [axis = static_cast<int>(c.attrs().integer("axis"))](Planner& p) {
    const auto size = static_cast<std::int64_t>(element_bytes(p.out_dtype()));
    std::vector<View> parts;
    for (int i = 0; i < p.input_count(); ++i) {
      if (p.has(i)) parts.push_back(p.view(i));
    }
    const std::optional<View> state = p.out_state();
    const Ref out = state ? state->at : p.out();
    const Dims strides = state ? state->strides : dense_strides(p.out_shape());
    p.kernel(state ? "append" : "concat");
    if (state) p.bytes(2 * static_cast<double>(state->bytes() - parts[0].bytes()));
    std::int64_t start = 0;
    for (const View& part : parts) {
      const bool in_place = state && &part == parts.data();
      const Ref to = out.plus(start * strides[axis] * size);
      start += part.shape[axis];
      if (in_place || part.shape.count() == 0) continue;
      p.emit([part, to, strides, size](const Frame& f) {
        copy_strided(static_cast<std::size_t>(size), part.shape, f.at(part.at), part.strides,
                     f.at(to), strides);
      });
    }
  };
}

}  // namespace

const Lowering cpu_concat{.why_unsupported = why_not_movable,
                          .prepare = prepare_movement<prepare>,
                          .view_inputs = kAllInputs};

}  // namespace concord::cpu
