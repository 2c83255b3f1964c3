#pragma once

#include <optional>

#include "backends/cpu/kernels/number.h"
#include "graph/dtype.h"

namespace concord::cpu {

// The kernels' name of a type; nullopt for types that no kernel computes with (they are moved only,
// by their size).
std::optional<Element> element_of(DataType dtype);

// As above for a type that why_unsupported let pass; throws Error(failed) otherwise.
Element element(DataType dtype);

inline bool is_half(DataType dtype) {
  return dtype == DataType::f16 || dtype == DataType::bf16;
}
// Types that float kernels take, the 16-bit ones through a conversion.
inline bool is_kernel_float(DataType dtype) {
  return dtype == DataType::f32 || is_half(dtype);
}
// Whole bytes of one element; 0 for strings and sub-byte types.
inline std::size_t element_bytes(DataType dtype) {
  return is_sub_byte(dtype) ? 0 : static_cast<std::size_t>(bits(dtype)) / 8;
}

}  // namespace concord::cpu
