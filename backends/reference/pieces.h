#pragma once

#include <cstdint>
#include <span>

#include "backends/reference/oracle.h"

namespace concord::reference {

// Element `index` along an axis, the axis taken out.
OracleValue take(const OracleValue& value, std::size_t axis, std::int64_t index);

// The opposite: equal shapes joined along a new axis, in reverse order if wanted. Throws
// Error(invalid) if shapes differ.
OracleValue stack(std::span<const OracleValue> parts, std::size_t axis, bool reversed);

}  // namespace concord::reference
