#pragma once

// Kernels that give one row to a workgroup.

#include <array>
#include <cstdint>
#include <string>

#include "backends/gpu/device.h"

namespace concord::gpu {

// "wave8", "wave32" or "wave256": the invocations that share a row of `columns` elements. On CPU
// drivers a workgroup is one subgroup, since barriers cost more there than what they save.
std::string row_width(const DeviceProperties& device, std::int64_t columns);

std::array<std::uint32_t, 3> row_groups(std::int64_t rows);

}  // namespace concord::gpu
