#pragma once

#include <memory>
#include <string>

#include "backends/gpu/device.h"

namespace concord::vulkan {

// Starts the device that `wanted` names: an index or a piece of a device's or driver's name; empty
// for the best one. Throws with what is missing.
std::unique_ptr<gpu::Device> open_device(const std::string& wanted);

}  // namespace concord::vulkan
