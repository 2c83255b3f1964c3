#pragma once

#include <optional>
#include <string>

#include "backends/gpu/lowering.h"

namespace concord::gpu {

// Kernel of the scatter family: "scatter_nd_32", or "scatter_nd_add_f32" with a reduction.
std::string scatter_kernel(const std::string& family, const std::string& reduction,
                           DataType storage);
std::optional<std::string> why_no_scatter(const Query& query, const std::string& family);

}  // namespace concord::gpu
