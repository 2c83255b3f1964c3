#include "backends/cpu/kernels/gather.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  return [axis = static_cast<int>(c.attrs().integer("axis"))](Planner& p) {
    const Dims shape = p.shape(0);
    const Dims index_shape = p.shape(1);
    require_index_inside(shape, index_shape, axis);
    const Ref x = p.in(0);
    const Ref at = p.in(1);
    const Indices indices{nullptr, element(p.dtype(1)), index_shape.count()};
    const std::size_t size = element_bytes(p.out_dtype());
    const Ref y = p.out();
    // Of the data only what is gathered is read.
    p.bytes(static_cast<double>(2 * p.out_shape().count()) * static_cast<double>(size) +
            static_cast<double>(p.view(1).bytes()));
    p.emit("gather_elements", 0, [=](const Frame& f) {
      Indices now = indices;
      now.data = f.at(at);
      std::int64_t bad = 0;
      if (!gather_elements(size, shape, index_shape, axis, f.at(x), now, f.at(y), &bad)) {
        throw_bad_index(bad, shape[axis]);
      }
    });
  };
}

}  // namespace

const Lowering cpu_gather_elements{.why_unsupported = why_not_movable,
                                   .prepare = prepare_movement<prepare>};

}  // namespace concord::cpu
