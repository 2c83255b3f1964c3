#pragma once

// Scales and zero points of quantize and dequantize.

#include <optional>
#include <string>

#include "backends/gpu/lowering.h"

namespace concord::gpu {

// Where the scale of an element stands, as quantize.slang numbers them.
struct ScalePlace {
  std::int32_t axis_extent = 1;
  std::int32_t inner = 1;
  std::int32_t block = 0;
  std::int32_t blocks = 1;
};
ScalePlace scale_place(NodeLowering& node);

// float8 and float4 lie in f32 and have no kernels of their own: they are products and quotients by
// the scale of each element, which this is (in f32, of x's shape or broadcast to it).
Operand widened_scale(NodeLowering& node, const Operand& scale);

// Reasons that quantize and dequantize have in common; `narrow` is the type of the quantised side.
std::optional<std::string> why_no_scales(const Query& query, DataType narrow);

}  // namespace concord::gpu
