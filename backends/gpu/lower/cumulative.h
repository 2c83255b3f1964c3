#pragma once

// Running sums and products.

#include <optional>
#include <string>

#include "backends/gpu/lowering.h"

namespace concord::gpu {

// `kernel` is "scan_sum" or "scan_product".
std::optional<std::string> why_no_cumulative(const Query& query, const std::string& kernel);
void lower_cumulative(NodeLowering& node, const std::string& kernel);

}  // namespace concord::gpu
