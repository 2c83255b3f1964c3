#include "backends/cuda/physical_device.h"

#include <array>
#include <string>

#include "backends/gpu/device_error.h"

namespace concord::cuda {
namespace {

std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

PhysicalDevice physical_device(const Driver& driver, int ordinal) {
  PhysicalDevice device;
  device.index = static_cast<std::uint32_t>(ordinal);
  driver.check(Driver::call(driver.cuDeviceGet, &device.handle, ordinal), "opening a device");
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    driver.check(Driver::call(driver.cuDeviceGetAttribute, &value, which, device.handle),
                 "asking a device for its abilities");
    return value;
  };
  std::array<char, 256> name{};
  driver.check(Driver::call(driver.cuDeviceGetName, name.data(), static_cast<int>(name.size()),
                            device.handle),
               "asking a device for its name");
  std::size_t memory = 0;
  driver.check(Driver::call(driver.cuDeviceTotalMem, &memory, device.handle),
               "asking a device for its memory");
  device.capability = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                      attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  device.has_pools = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0;
  device.unified_addresses = attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) != 0;

  gpu::DeviceProperties& p = device.properties;
  p.name = name.data();
  p.driver = driver.version_text();
  p.driver_info = "capability " + capability_text(device.capability);
  // So the driver of tests/fake_cuda names its devices.
  const bool imitated = p.name.find("software driver") != std::string::npos;
  p.type = imitated                                         ? gpu::DeviceType::kImitated
           : attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0 ? gpu::DeviceType::kIntegrated
                                                            : gpu::DeviceType::kDiscrete;
  p.memory_bytes = memory;
  p.max_allocation_bytes = memory;
  p.units = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p.subgroup_size = static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  p.shared_bytes =
      static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  p.max_param_bytes = 4096;
  p.max_groups = {static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)),
                  static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)),
                  static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z))};
  // Every device of the floor's capability has these.
  p.abilities = {.f16 = true,
                 .f64 = true,
                 .i8 = true,
                 .i16 = true,
                 .i64 = true,
                 .storage8 = true,
                 .storage16 = true,
                 .subgroups = true,
                 .int8_dot = true,
                 .cooperative_matrix = device.capability >= kMatrixUnits};
  p.short_products = device.capability >= kMatrixUnits;
  p.timestamps = true;
  p.runs_ptx = true;
  if (device.capability < kOldestCapability) {
    device.unfit = "its compute capability is " + capability_text(device.capability) + ", " +
                   capability_text(kOldestCapability) + " is needed";
  } else if (!device.has_pools) {
    device.unfit = "its driver has no stream-ordered memory here";
  } else if (!device.unified_addresses) {
    device.unfit = "it does not share addresses with the host";
  }
  return device;
}

}  // namespace

std::vector<PhysicalDevice> physical_devices(const Driver& driver) {
  int count = 0;
  driver.check(Driver::call(driver.cuDeviceGetCount, &count), "counting devices");
  if (count == 0) {
    gpu::fail_device("CUDA: the driver (" + driver.version_text() + ") offers no device",
                     "see whether nvidia-smi lists one, and what CUDA_VISIBLE_DEVICES says");
  }
  std::vector<PhysicalDevice> devices;
  for (int i = 0; i < count; ++i) devices.push_back(physical_device(driver, i));
  return devices;
}

}  // namespace concord::cuda
