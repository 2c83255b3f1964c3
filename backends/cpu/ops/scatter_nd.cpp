#include "backends/cpu/ops/scatter_plan.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  if (!scatters_here(c.dtype(0), scatter_op(c.node()))) return prepare_host(c);
  return [op = scatter_op(c.node())](Planner& p) {
    const Dims shape = p.shape(0);
    const Dims index_shape = p.shape(1);
    const auto depth = static_cast<int>(index_shape.back());
    Dims axes;
    for (int i = 0; i < depth; ++i) axes.push_back(shape[i]);
    const std::int64_t count = index_shape.product(0, index_shape.rank() - 1);
    const std::int64_t inner = shape.product(depth, shape.rank());
    const Ref at = p.in(1);
    const Ref updates = p.in(2);
    const Indices indices{nullptr, element(p.dtype(1)), index_shape.count()};
    const Ref y = plan_scatter_copy(p);
    p.emit("scatter_nd", 0, [=, type = element(p.out_dtype())](const Frame& f) {
      Indices now = indices;
      now.data = f.at(at);
      std::int64_t bad = 0;
      if (!scatter_nd(type, op, count, axes, inner, now, f.at(updates), f.at(y), &bad)) {
        throw Error(ErrorKind::invalid,
                    "index " + std::to_string(bad) + " is outside its axis of " + shape.text());
      }
    });
  };
}

}  // namespace

const Lowering cpu_scatter_nd{.why_unsupported = why_not_scatter, .prepare = prepare};

}  // namespace concord::cpu
