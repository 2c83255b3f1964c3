#pragma once

#include <memory>
#include <string>

#include "backends/backend.h"
#include "backends/gpu/device.h"

namespace concord::gpu {

// What a driver says about a device, for lists.
DeviceInfo device_info(int index, const DeviceProperties& properties);

// A backend called `name` ("vulkan") on a device. Throws Error(usage) for a precision that GPU
// backends don't have.
std::unique_ptr<Backend> make_backend(std::string name, int index, std::shared_ptr<Device> device,
                                      const CompileOptions& options);

}  // namespace concord::gpu
