// tests/gpu's device for the tests that run on CUDA as well: one on the software driver.

#include "tests/gpu/device_fixture.h"

#include "tests/cuda/cuda_fixture.h"

namespace concord::gpu {

Device& test_device() {
  static const std::unique_ptr<Device> device = cuda::open_fake();
  return *device;
}

void run_commands(std::span<const Command> commands) {
  const auto list = test_device().record(commands, false);
  list->submit();
  list->wait();
}

}  // namespace concord::gpu
