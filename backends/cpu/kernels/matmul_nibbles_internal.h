#pragma once

#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/matmul_nibbles.h"

namespace concord::cpu {

// One thread's share of a product with 4-bit weights.
struct NibbleShare {
  MatmulShare region;  // panels points at the packed words, storage is f32
  const float* scales = nullptr;
  const std::uint8_t* zeros = nullptr;  // null: all are `zero`
  std::int32_t zero = 0;
  std::int64_t block = 0, blocks = 0;
  const QuantisedRows* rows = nullptr;  // null: rows stay f32
};

}  // namespace concord::cpu
