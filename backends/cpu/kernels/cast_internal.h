// Conversions on the calling thread, for kernels that convert tile by tile.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/number.h"

namespace concord::cpu {

void convert_serial(Element from, const void* src, Element to, void* dst, std::int64_t n);

// As above for floats of 16 or 32 bits, which are vectorised; src[i · stride] for stride >= 0.
void load_floats(Element from, const void* src, std::int64_t stride, float* dst, std::int64_t n);

}  // namespace concord::cpu
