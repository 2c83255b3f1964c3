#pragma once

#include <cstdint>

#include "backends/gpu/lowering.h"

namespace concord::gpu {

// y [batch, m, n] = (a − a_zero)(b − b_zero) of bytes, which lie in 32 bits. a is [batch, m, k] or
// one matrix for all, b [batch, k, n] likewise; steps of zero points are 0 for one for all.
struct IntegerProduct {
  Operand a, b, y;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int32_t a_zero_step = 0, b_zero_step = 0;
};

// Whether the library takes the node's b from a constant that is packed once, for all plans: its
// values need not lie on the device otherwise, and `b` stays undefined.
bool packs_constant(const NodeLowering& node, std::int64_t k, std::int64_t n);

// By the vendor's library; false where there is none.
bool emit_library_integers(NodeLowering& node, const IntegerProduct& product);

}  // namespace concord::gpu
