#include "backends/cpu/kernels/gather.h"

#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  return [axis = static_cast<int>(c.attrs().integer("axis"))](Planner& p) {
    const Dims shape = p.shape(0);
    const Ref x = p.in_bytes(0);
    Indices indices;
    indices.type = element(p.dtype(1));
    indices.count = p.shape(1).count();
    const Ref at = p.in(1);
    const std::int64_t outer = shape.product(0, axis);
    const std::int64_t inner = shape.product(axis + 1, shape.rank());
    const std::size_t size = element_bytes(p.out_dtype());
    const Ref y = p.out();
    // Of the data only what is gathered is read.
    p.bytes(static_cast<double>(2 * p.out_shape().count()) * static_cast<double>(size) +
            static_cast<double>(p.view(1).bytes()));
    p.emit("gather", 0, [=, extent = shape[axis]](const Frame& f) {
      Indices now = indices;
      now.data = f.at(at);
      std::int64_t bad = 0;
      if (!gather(size, outer, extent, inner, f.at(x), now, f.at(y), &bad)) {
        throw_bad_index(bad, extent);
      }
    });
  };
}

}  // namespace

const Lowering cpu_gather{.why_unsupported = why_not_movable, .prepare = prepare_movement<prepare>};

}  // namespace concord::cpu
