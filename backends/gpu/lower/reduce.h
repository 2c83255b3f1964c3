#pragma once

#include <optional>
#include <string>

#include "backends/gpu/lowering.h"

namespace concord::gpu {

// Reductions know their function by ONNX's name in lower case ("sum", "log_sum_exp", …).
std::optional<std::string> why_no_reduce(const Query& query, const std::string& fn,
                                         DataType storage);

// y [outer, inner] = fn over `length` of x [outer, length, inner], both dense.
struct ReduceExtents {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};
void emit_reduce(NodeLowering& node, const std::string& fn, const Operand& x,
                 const ReduceExtents& extents, const Operand& y);

}  // namespace concord::gpu
