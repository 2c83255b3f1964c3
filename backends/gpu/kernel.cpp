#include "backends/gpu/kernel.h"

#include <algorithm>

namespace concord::gpu {

std::span<const Kernel* const> all_kernels() {
  static const std::vector<const Kernel*> sorted = [] {
    std::vector<const Kernel*> kernels;
    for (const std::span<const Kernel* const> family : kernel_families()) {
      kernels.insert(kernels.end(), family.begin(), family.end());
    }
    std::ranges::sort(kernels, {}, &Kernel::name);
    return kernels;
  }();
  return sorted;
}

const Kernel* find_kernel(std::string_view name) {
  const std::span<const Kernel* const> kernels = all_kernels();
  const auto at = std::ranges::lower_bound(kernels, name, {}, &Kernel::name);
  return at != kernels.end() && (*at)->name == name ? *at : nullptr;
}

}  // namespace concord::gpu
