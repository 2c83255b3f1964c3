#pragma once

// Types that lie in wider ones on the device (convert.h): what kernels computed is brought back to
// what the type can hold.

#include "backends/gpu/lowering.h"

namespace concord::gpu {

// How numbers that a type cannot hold end up in it.
enum class Overflow : std::uint8_t {
  wrap,      // integers keep their low bits; floats become infinity or NaN, or the largest without
  saturate,  // the nearest number that it has
};

// Whether some number of `storage`, in which `dtype` lies, is none of `dtype`'s.
bool lies_wider(DataType dtype, DataType storage);

// y = x as numbers of `dtype`; both are of its storage type. x and y may be the same.
void emit_narrow(NodeLowering& node, const Operand& x, const Operand& y, DataType dtype,
                 Overflow overflow);

}  // namespace concord::gpu
