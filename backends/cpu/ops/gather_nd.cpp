#include "backends/cpu/kernels/gather.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  return [batch_dims = static_cast<int>(c.attrs().integer("batch_dims"))](Planner& p) {
    const Dims shape = p.shape(0);
    const Dims index_shape = p.shape(1);
    const auto depth = static_cast<int>(index_shape.back());
    Dims axes;
    for (int i = 0; i < depth; ++i) axes.push_back(shape[batch_dims + i]);
    const std::int64_t batch = shape.product(0, batch_dims);
    const std::int64_t count = index_shape.product(batch_dims, index_shape.rank() - 1);
    const std::int64_t inner = shape.product(batch_dims + depth, shape.rank());
    const Ref x = p.in(0);
    const Ref at = p.in(1);
    const Indices indices{nullptr, element(p.dtype(1)), index_shape.count()};
    const std::size_t size = element_bytes(p.out_dtype());
    const Ref y = p.out();
    // Of the data only what is gathered is read.
    p.bytes(static_cast<double>(2 * p.out_shape().count()) * static_cast<double>(size) +
            static_cast<double>(p.view(1).bytes()));
    p.emit("gather_nd", 0, [=](const Frame& f) {
      Indices now = indices;
      now.data = f.at(at);
      std::int64_t bad = 0;
      if (!gather_nd(size, batch, count, axes, inner, f.at(x), now, f.at(y), &bad)) {
        throw Error(ErrorKind::invalid,
                    "index " + std::to_string(bad) + " is outside its axis of " + shape.text());
      }
    });
  };
}

}  // namespace

const Lowering cpu_gather_nd{.why_unsupported = why_not_movable,
                             .prepare = prepare_movement<prepare>};

}  // namespace concord::cpu
