#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/gpu/device.h"

namespace concord::vulkan {

struct OpenedDevice {
  int index = 0;  // among all that the drivers offer
  std::shared_ptr<gpu::Device> device;
};

// Starts the device that `wanted` names: an index or a piece of a device's or driver's name; empty
// for the best one. Throws with what is missing. A device that is open in this process already is
// shared, and its compiled kernels with it.
OpenedDevice open_device(const std::string& wanted);

// The devices that Concord can use. Throws with the reason when there is none.
std::vector<DeviceInfo> device_list();

}  // namespace concord::vulkan
