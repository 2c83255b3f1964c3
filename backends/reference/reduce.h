#pragma once

#include <span>
#include <vector>

#include "backends/reference/kernel.h"
#include "graph/functions.h"

namespace concord::reference {

// reduce and reduce_dynamic once the axes are known.
std::vector<OracleValue> run_reduce(const Call& call, std::span<const std::int64_t> axes);

}  // namespace concord::reference
