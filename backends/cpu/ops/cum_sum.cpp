#include "backends/cpu/ops/cumulative_plan.h"

namespace concord::cpu {
namespace {

PlanFn prepare(Compiler& c) {
  return prepare_cumulative(c, CumulativeOp::sum);
}

}  // namespace

const Lowering cpu_cum_sum{.why_unsupported = why_not_cumulative, .prepare = prepare};

}  // namespace concord::cpu
