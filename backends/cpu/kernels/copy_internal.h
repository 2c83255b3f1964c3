// Transposition of 32-bit words in registers, and copies past the caches.
#pragma once

#include <cstdint>

namespace concord::cpu {

// dst[j][i] = src[i][j] for i < rows, j < columns; strides in words between rows of each.
void transpose_words(const std::uint32_t* src, std::int64_t src_stride, std::int64_t rows,
                     std::int64_t columns, std::uint32_t* dst, std::int64_t dst_stride);

// Row r of src, cut into panels of width words: piece p goes to dst + p · panel_stride + r · width.
// Written past the caches: for memory that is not read soon. dst aligned to 64 bytes, width a
// multiple of 16 or the whole vector.
void stream_panels(const float* src, std::int64_t src_stride, std::int64_t rows,
                   std::int64_t panels, std::int64_t width, float* dst, std::int64_t panel_stride);

}  // namespace concord::cpu
