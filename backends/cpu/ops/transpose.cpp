#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  return [perm = c.integers("perm")](Planner& p) {
    View view = p.view(0);
    const View from = view;
    for (int i = 0; i < from.shape.rank(); ++i) {
      const int axis = perm[static_cast<std::size_t>(i)];
      view.shape[i] = from.shape[axis];
      view.strides[i] = from.strides[axis];
    }
    p.place(0, view);
  };
}

}  // namespace

const Lowering cpu_transpose{
    .why_unsupported = why_not_movable, .prepare = prepare_movement<prepare>, .view_inputs = 1};

}  // namespace concord::cpu
