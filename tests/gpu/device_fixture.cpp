#include "tests/gpu/device_fixture.h"

#include <cstdlib>
#include <string>

#include "backends/vulkan/device.h"

namespace concord::gpu {

Device& test_device() {
  static const std::shared_ptr<Device> device = [] {
    // Tests run under the validation layers unless told not to.
    setenv("CONCORD_VULKAN_VALIDATION", "1", 0);
    const char* wanted = std::getenv("CONCORD_TEST_DEVICE");
    return vulkan::open_device(wanted == nullptr ? std::string() : wanted).device;
  }();
  return *device;
}

void run_commands(std::span<const Command> commands) {
  const auto list = test_device().record(commands, false);
  list->submit();
  list->wait();
}

}  // namespace concord::gpu
