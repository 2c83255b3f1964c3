#include "backends/cpu/kernels/elementwise_exact.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/elementwise_plan.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler&) {
  return [](Planner& p) {
    const Dims shape = p.out_shape();
    const std::size_t size = element_bytes(p.out_dtype());
    Broadcast operands[3];
    std::uint32_t reusable = 0;
    for (int i = 0; i < 3; ++i) {
      const View view = p.dense_view(i);
      operands[i].at = view.at;
      operands[i].strides = broadcast_to(view, shape);
      if (i > 0 && p.shape(i).count() == shape.count()) reusable |= 1u << i;
    }
    const Ref y = p.out_over(0, reusable);
    p.emit("select", static_cast<double>(shape.count()),
           [shape, size, condition = operands[0], a = operands[1], b = operands[2],
            y](const Frame& f) {
             select(size, shape, {f.at(condition.at), condition.strides.begin()},
                    {f.at(a.at), a.strides.begin()}, {f.at(b.at), b.strides.begin()}, f.at(y));
           });
  };
}

}  // namespace

const Lowering cpu_select{.why_unsupported = why_not_movable, .prepare = prepare_movement<prepare>};

}  // namespace concord::cpu
