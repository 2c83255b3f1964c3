// Transposition of 32-bit words in registers.
#pragma once

#include <cstdint>

namespace concord::cpu {

// dst[j][i] = src[i][j] for i < rows, j < columns; strides in words between rows of each.
void transpose_words(const std::uint32_t* src, std::int64_t src_stride, std::int64_t rows,
                     std::int64_t columns, std::uint32_t* dst, std::int64_t dst_stride);

}  // namespace concord::cpu
