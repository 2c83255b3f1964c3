#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/matmul_int8.h"

namespace concord::cpu {

// One thread's share: rows [row_begin, row_end), panels [panel_begin, panel_end).
struct ByteShare {
  const MatmulInt8Args* args = nullptr;
  const std::byte* panels = nullptr;
  const std::int32_t* columns = nullptr;  // i32 [2][padded_n], see PackedBytes
  std::int64_t padded_n = 0;
  std::int64_t k = 0, n = 0;
  bool has_zeros = false;
  std::int64_t row_begin = 0, row_end = 0, panel_begin = 0, panel_end = 0;
};

}  // namespace concord::cpu
