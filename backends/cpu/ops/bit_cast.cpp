#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler&) {
  return [](Planner& p) {
    View view = p.view(0);
    view.dtype = p.out_dtype();
    p.place(0, view);
  };
}

}  // namespace

const Lowering cpu_bit_cast{
    .why_unsupported = why_not_movable, .prepare = prepare_movement<prepare>, .passes_views = true};

}  // namespace concord::cpu
