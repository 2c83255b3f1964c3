#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler&) {
  return [](Planner& p) {
    View view = p.view(0);
    const Dims to = p.out_shape();
    if (view.shape.count() != to.count()) {
      throw Error(ErrorKind::invalid, "cannot reshape " + view.shape.text() + " to " + to.text());
    }
    auto strides = reshape_strides(view.shape, view.strides, to);
    if (!strides) {
      view.at = p.in(0);
      strides = dense_strides(to);
    }
    view.shape = to;
    view.strides = *strides;
    p.place(0, view);
  };
}

}  // namespace

const Lowering cpu_reshape{.why_unsupported = any_node, .prepare = prepare, .passes_views = true};

}  // namespace concord::cpu
