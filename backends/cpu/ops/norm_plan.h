#pragma once

#include "backends/cpu/kernels/norm.h"
#include "backends/cpu/lowering.h"

namespace concord::cpu {

// layer_norm and rms_norm: the same inputs (x, gamma, beta, residual by these positions, −1 where
// the operator has none), the same outputs.
struct NormForm {
  void (*kernel)(const NormArgs&);
  const char* name;
  int gamma, beta, residual;
};
PlanFn prepare_norm(Compiler& compiler, const NormForm& form);

}  // namespace concord::cpu
