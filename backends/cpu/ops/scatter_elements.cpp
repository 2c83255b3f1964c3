#include "backends/cpu/ops/scatter_plan.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  if (!scatters_here(c.dtype(0), scatter_op(c.node()))) return prepare_host(c);
  const auto op = scatter_op(c.node());
  return [op, axis = static_cast<int>(c.attrs().integer("axis"))](Planner& p) {
    const Dims shape = p.shape(0);
    const Dims index_shape = p.shape(1);
    require_index_inside(shape, index_shape, axis);
    const Ref at = p.in(1);
    const Ref updates = p.in(2);
    const Indices indices{nullptr, element(p.dtype(1)), index_shape.count()};
    const std::optional<View> state = p.out_state();
    const Ref y = state ? state->at : plan_scatter_copy(p);
    const Dims strides = state ? state->strides : dense_strides(shape);
    if (state) p.bytes(2.0 * static_cast<double>(p.view(2).bytes()));
    p.emit("scatter_elements", 0, [=, type = element(p.out_dtype())](const Frame& f) {
      Indices now = indices;
      now.data = f.at(at);
      std::int64_t bad = 0;
      if (!scatter_elements(type, op, shape, index_shape, axis, now, f.at(updates), f.at(y),
                            strides, &bad)) {
        throw_bad_index(bad, shape[axis]);
      }
    });
  };
}

}  // namespace

const Lowering cpu_scatter_elements{.why_unsupported = why_not_scatter, .prepare = prepare};

}  // namespace concord::cpu
