#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <volk.h>

#include "backends/gpu/device.h"

namespace concord::vulkan {

class Instance;

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::uint32_t index = 0;         // in the driver's order; what device=N names
  std::uint32_t queue_family = 0;  // has compute
  std::uint32_t timestamp_bits = 0;
  double timestamp_ns = 1.0;     // per tick
  bool has_integer_dot = false;  // as Vulkan 1.3 or as the extension
  // Not needed, as no parameter has 16 bits, but validation layers count what pointers lead to.
  bool has_push_constant16 = false;
  gpu::DeviceProperties properties;
  std::string unfit;  // why Concord cannot use it; empty when it can
};

std::vector<PhysicalDevice> physical_devices(const Instance& instance);

// The device that `wanted` names: an index, or a piece of the device's or driver's name in any
// case that fits one device; empty means the first fit device that is no CPU, else the first fit
// one. Throws with the list of devices when none or several fit.
PhysicalDevice select_device(const std::vector<PhysicalDevice>& devices, const std::string& wanted);

}  // namespace concord::vulkan
