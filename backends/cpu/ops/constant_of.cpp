#include <cstring>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  return [value = c.attrs().tensor("value")](Planner& p) {
    const std::int64_t count = p.out_shape().count();
    const std::size_t size = element_bytes(p.out_dtype());
    const Ref out = p.out();
    p.emit("fill", 0, [value, count, size, out](const Frame& f) {
      fill(size, count, value.data(), f.at(out));
    });
  };
}

}  // namespace

const Lowering cpu_constant_of{.why_unsupported = why_not_movable,
                               .prepare = prepare_movement<prepare>};

}  // namespace concord::cpu
