#pragma once

#include <optional>
#include <vector>

#include "graph/tensor.h"
#include "parity/report.h"

namespace concord::parity {

// Where a step's result has a NaN or an infinity though all its operands are finite, with the
// values that made it; nullopt otherwise. `oracle`: the same result in float64.
std::optional<NonFiniteOrigin> origin_of_non_finite(const std::vector<Tensor>& operands,
                                                    const Tensor& result, const Tensor& oracle);

}  // namespace concord::parity
