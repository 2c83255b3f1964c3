// What libconcord_cuda.so exports.

#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/build_id.h"
#include "backends/cuda/device.h"
#include "backends/gpu/gpu_backend.h"
#include "graph/error.h"

namespace concord::cuda {
namespace {

std::vector<DeviceInfo> list_devices() {
  return device_list();
}

std::unique_ptr<Backend> create(const std::string& selector, const CompileOptions& options) {
  OpenedDevice opened = open_device(selector, options);
  return gpu::make_backend("cuda", opened.index, std::move(opened.device), options);
}

}  // namespace
}  // namespace concord::cuda

extern "C" __attribute__((visibility("default"))) const concord::ModuleApi* concord_module_v1() {
  static const concord::ModuleApi api{CONCORD_BUILD_ID, "cuda", &concord::cuda::list_devices,
                                      &concord::cuda::create};
  return &api;
}
