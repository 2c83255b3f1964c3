#include "backends/gpu/lower/rows.h"

#include "backends/gpu/lower/strides.h"

namespace concord::gpu {

std::string row_width(const DeviceProperties& device, std::int64_t columns) {
  constexpr std::int64_t kNarrow = 256;
  if (device.is_cpu_driver) return device.subgroup_size >= 8 ? "wave8" : "wave32";
  return columns <= kNarrow ? "wave32" : "wave256";
}

std::array<std::uint32_t, 3> row_groups(std::int64_t rows) {
  return flat_groups(rows, 1);
}

}  // namespace concord::gpu
