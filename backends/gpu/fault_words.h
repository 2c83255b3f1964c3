#pragma once

#include <cstdint>

namespace concord::gpu {

// What a step that checks has in the plan's fault buffer: whether there is a fault, a value at
// fault, and the length of the axis that it does not fit (0 for a divisor that is 0).
inline constexpr std::int64_t kFaultWords = 3;

}  // namespace concord::gpu
