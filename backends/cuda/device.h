#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/gpu/device.h"

namespace concord::cuda {

struct OpenedDevice {
  int index = 0;  // among all that the driver offers
  std::unique_ptr<gpu::Device> device;
};

// Starts the device that `wanted` names: an index or a piece of a device's name; empty for the
// first. Throws with what is missing.
OpenedDevice open_device(const std::string& wanted, const CompileOptions& options);

// The devices that Concord can use. Throws with the reason when there is none.
std::vector<DeviceInfo> device_list();

}  // namespace concord::cuda
