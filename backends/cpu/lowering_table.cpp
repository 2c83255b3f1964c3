#include <array>

#include "backends/cpu/lowering.h"

namespace concord::cpu {

const Lowering& lowering(graph::OpKind op) {
  static const std::array<const Lowering*, graph::kOpCount> table = {
#define CONCORD_OP(name) &cpu_##name,
#include "graph/ops.def"
#undef CONCORD_OP
  };
  return *table[static_cast<std::size_t>(op)];
}

}  // namespace concord::cpu
