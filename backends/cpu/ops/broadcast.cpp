#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler&) {
  return [](Planner& p) {
    const View from = p.view(0);
    View view = from;
    view.shape = p.out_shape();
    const int lead = view.shape.rank() - from.shape.rank();
    view.strides = Dims::filled(view.shape.rank(), 0);
    for (int i = 0; i < from.shape.rank(); ++i) {
      if (from.shape[i] == view.shape[lead + i]) view.strides[lead + i] = from.strides[i];
    }
    p.place(0, view);
  };
}

}  // namespace

const Lowering cpu_broadcast{
    .why_unsupported = why_not_movable, .prepare = prepare_movement<prepare>, .view_inputs = 1};

}  // namespace concord::cpu
