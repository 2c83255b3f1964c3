#pragma once

#include <vector>

#include "backends/reference/kernel.h"

namespace concord::reference {

// Whether a scatter adds or multiplies floats; all else is the host's.
bool scatter_computes(const Call& call);

// Adds to, or multiplies, runs of `length` elements of operand 0 at each of `offsets`.
std::vector<OracleValue> run_scatter(const Call& call, const std::vector<std::int64_t>& offsets,
                                     std::int64_t length);

}  // namespace concord::reference
