#include "backends/cpu/host_step.h"

// Operators that the host interpreter carries out as a step of the plan: indices, orders and
// counts, on no model's hot path.

namespace concord::cpu {

#define CONCORD_HOST_OP(name) \
  const Lowering cpu_##name{.why_unsupported = why_not_host, .prepare = prepare_host};
CONCORD_HOST_OP(eye_like)
CONCORD_HOST_OP(lookup)
CONCORD_HOST_OP(non_max_suppression)
CONCORD_HOST_OP(nonzero)
CONCORD_HOST_OP(one_hot)
CONCORD_HOST_OP(random)
CONCORD_HOST_OP(range)
CONCORD_HOST_OP(reverse_sequence)
CONCORD_HOST_OP(top_k)
CONCORD_HOST_OP(tree_ensemble)
CONCORD_HOST_OP(trilu)
CONCORD_HOST_OP(unique)
#undef CONCORD_HOST_OP

}  // namespace concord::cpu
