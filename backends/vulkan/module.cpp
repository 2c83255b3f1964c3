// What libconcord_vulkan.so exports.

#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/build_id.h"
#include "backends/gpu/gpu_backend.h"
#include "backends/vulkan/device.h"
#include "graph/error.h"

namespace concord::vulkan {
namespace {

std::vector<DeviceInfo> list_devices() {
  return device_list();
}

std::unique_ptr<Backend> create(const std::string& selector, const CompileOptions& options) {
  OpenedDevice opened = open_device(selector);
  return gpu::make_backend("vulkan", opened.index, std::move(opened.device), options);
}

}  // namespace
}  // namespace concord::vulkan

extern "C" __attribute__((visibility("default"))) const concord::ModuleApi* concord_module_v1() {
  static const concord::ModuleApi api{CONCORD_BUILD_ID, "vulkan", &concord::vulkan::list_devices,
                                      &concord::vulkan::create};
  return &api;
}
