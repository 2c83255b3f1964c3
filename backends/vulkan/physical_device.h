#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <volk.h>

#include "backends/gpu/select_device.h"

namespace concord::vulkan {

class Instance;

struct PhysicalDevice : gpu::Candidate {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::uint32_t queue_family = 0;  // has compute
  std::uint32_t timestamp_bits = 0;
  double timestamp_ns = 1.0;     // per tick
  bool has_integer_dot = false;  // as Vulkan 1.3 or as the extension
  // Not needed, as no parameter has 16 bits, but validation layers count what pointers lead to.
  bool has_push_constant16 = false;
};

std::vector<PhysicalDevice> physical_devices(const Instance& instance);

// As gpu::select_candidate.
PhysicalDevice select_device(const std::vector<PhysicalDevice>& devices, const std::string& wanted);

}  // namespace concord::vulkan
