// Conversions between element types.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/number.h"

namespace concord::cpu {

// Float to float: nearest, ties to even. Float to integer: towards zero; what does not fit wraps
// like x86 and ONNX's tests (saturates with saturate; NaN gives 0). Integer to integer: wraps.
// To boolean: != 0. In place is allowed for equal sizes.
void convert(Element from, const void* src, Element to, void* dst, std::int64_t n);

}  // namespace concord::cpu
