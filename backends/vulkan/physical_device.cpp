#include "backends/vulkan/physical_device.h"

#include <algorithm>
#include <optional>

#include "backends/gpu/device_error.h"
#include "backends/vulkan/instance.h"
#include "backends/vulkan/result.h"

namespace concord::vulkan {
namespace {

gpu::DeviceType device_type(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return gpu::DeviceType::kDiscrete;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return gpu::DeviceType::kIntegrated;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return gpu::DeviceType::kVirtual;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return gpu::DeviceType::kCpu;
    default:
      return gpu::DeviceType::kOther;
  }
}

// A compute-only family before one that also draws.
std::optional<std::uint32_t> compute_family(VkPhysicalDevice device, std::uint32_t& bits) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  std::optional<std::uint32_t> found;
  for (std::uint32_t i = 0; i < count; ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    if ((flags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    const bool draws = (flags & VK_QUEUE_GRAPHICS_BIT) != 0;
    if (!found.has_value() || !draws) {
      found = i;
      bits = families[i].timestampValidBits;
    }
    if (!draws) break;
  }
  return found;
}

void read_properties(PhysicalDevice& device) {
  VkPhysicalDeviceSubgroupProperties subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  driver.pNext = &subgroup;
  VkPhysicalDeviceMaintenance3Properties maintenance{};
  maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
  maintenance.pNext = &driver;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &maintenance;
  vkGetPhysicalDeviceProperties2(device.handle, &all);
  const VkPhysicalDeviceLimits& limits = all.properties.limits;

  gpu::DeviceProperties& p = device.properties;
  p.name = all.properties.deviceName;
  p.driver = driver.driverName;
  p.driver_info = driver.driverInfo;
  p.type = device_type(all.properties.deviceType);
  p.is_cpu_driver = p.type == gpu::DeviceType::kCpu;
  p.subgroup_size = subgroup.subgroupSize;
  p.shared_bytes = limits.maxComputeSharedMemorySize;
  p.max_param_bytes = limits.maxPushConstantsSize;
  std::copy_n(limits.maxComputeWorkGroupCount, 3, p.max_groups.begin());
  p.max_allocation_bytes = maintenance.maxMemoryAllocationSize;
  p.timestamps = device.timestamp_bits != 0;
  device.timestamp_ns = limits.timestampPeriod;
  constexpr VkSubgroupFeatureFlags kWaves =
      VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
      VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT |
      VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  p.abilities.subgroups = (subgroup.supportedOperations & kWaves) == kWaves &&
                          (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;

  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(device.handle, &memory);
  constexpr VkMemoryPropertyFlags kUnified = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                             VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                             VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const bool on_host = p.type == gpu::DeviceType::kCpu || p.type == gpu::DeviceType::kIntegrated;
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    p.unified = p.unified || (on_host && (flags & kUnified) == kUnified);
  }
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
      p.memory_bytes = std::max<std::uint64_t>(p.memory_bytes, memory.memoryHeaps[i].size);
    }
  }
  if (limits.maxComputeWorkGroupInvocations < 256 || limits.maxComputeWorkGroupSize[0] < 256) {
    device.unfit = "its workgroups have fewer than 256 invocations";
  } else if (p.shared_bytes < 32768) {
    device.unfit = "it has less than 32 KiB of memory shared in a workgroup";
  }
}

bool has_extension(VkPhysicalDevice device, const std::string& name) {
  std::uint32_t count = 0;
  if (vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) {
    return false;
  }
  std::vector<VkExtensionProperties> extensions(count);
  if (vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data()) !=
      VK_SUCCESS) {
    return false;
  }
  return std::ranges::any_of(extensions, [&](const VkExtensionProperties& extension) {
    return name == extension.extensionName;
  });
}

// How many multiprocessors (NVIDIA) or compute units (AMD) it has, where the driver tells.
int compute_units(VkPhysicalDevice device) {
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  if (has_extension(device, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia{};
    nvidia.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV;
    all.pNext = &nvidia;
    vkGetPhysicalDeviceProperties2(device, &all);
    return static_cast<int>(nvidia.shaderSMCount);
  }
  if (has_extension(device, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
    VkPhysicalDeviceShaderCorePropertiesAMD amd{};
    amd.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD;
    all.pNext = &amd;
    vkGetPhysicalDeviceProperties2(device, &all);
    return static_cast<int>(amd.shaderEngineCount * amd.shaderArraysPerEngineCount *
                            amd.computeUnitsPerShaderArray);
  }
  return 0;
}

void read_features(PhysicalDevice& device, std::uint32_t api_version) {
  const bool core13 = api_version >= VK_API_VERSION_1_3;
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot{};
  dot.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES;
  VkPhysicalDeviceVulkan12Features v12{};
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  if (core13 || has_extension(device.handle, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME)) {
    v12.pNext = &dot;
  }
  VkPhysicalDeviceVulkan11Features v11{};
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  VkPhysicalDeviceFeatures2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  all.pNext = &v11;
  vkGetPhysicalDeviceFeatures2(device.handle, &all);

  gpu::KernelNeeds& abilities = device.properties.abilities;
  abilities.f16 = v12.shaderFloat16 != VK_FALSE;
  abilities.f64 = all.features.shaderFloat64 != VK_FALSE;
  abilities.i8 = v12.shaderInt8 != VK_FALSE;
  abilities.i16 = all.features.shaderInt16 != VK_FALSE;
  abilities.i64 = all.features.shaderInt64 != VK_FALSE;
  abilities.storage8 = v12.storageBuffer8BitAccess != VK_FALSE;
  abilities.storage16 = v11.storageBuffer16BitAccess != VK_FALSE;
  device.has_push_constant16 = v11.storagePushConstant16 != VK_FALSE;
  device.has_integer_dot = dot.shaderIntegerDotProduct != VK_FALSE;
  abilities.int8_dot = device.has_integer_dot && abilities.i8;
  if (device.unfit.empty() && v12.bufferDeviceAddress == VK_FALSE) {
    device.unfit = "it has no buffer device addresses";
  }
  if (device.unfit.empty() && v12.timelineSemaphore == VK_FALSE) {
    device.unfit = "it has no timeline semaphores";
  }
}

}  // namespace

std::vector<PhysicalDevice> physical_devices(const Instance& instance) {
  std::uint32_t count = 0;
  check(vkEnumeratePhysicalDevices(instance.handle(), &count, nullptr), "listing devices");
  std::vector<VkPhysicalDevice> handles(count);
  check(vkEnumeratePhysicalDevices(instance.handle(), &count, handles.data()), "listing devices");
  std::vector<PhysicalDevice> devices;
  for (const VkPhysicalDevice handle : handles) {
    PhysicalDevice device;
    device.handle = handle;
    device.index = static_cast<std::uint32_t>(devices.size());
    VkPhysicalDeviceProperties basic{};
    vkGetPhysicalDeviceProperties(handle, &basic);
    device.properties.name = basic.deviceName;
    if (basic.apiVersion < VK_API_VERSION_1_2) {
      device.unfit = "its driver offers Vulkan " +
                     std::to_string(VK_API_VERSION_MAJOR(basic.apiVersion)) + "." +
                     std::to_string(VK_API_VERSION_MINOR(basic.apiVersion)) + ", 1.2 is needed";
    } else if (const auto family = compute_family(handle, device.timestamp_bits)) {
      device.queue_family = *family;
      read_properties(device);
      read_features(device, std::min(basic.apiVersion, instance.api_version()));
      device.properties.units = compute_units(handle);
    } else {
      device.unfit = "it has no compute queue";
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

PhysicalDevice select_device(const std::vector<PhysicalDevice>& devices,
                             const std::string& wanted) {
  if (devices.empty()) {
    gpu::fail_device("no Vulkan driver was found",
                     "install one (Debian: mesa-vulkan-drivers holds one that runs on the CPU), or "
                     "name its manifest in VK_ICD_FILENAMES");
  }
  return devices[gpu::select_candidate(gpu::candidates_of(devices), wanted, "Vulkan")];
}

}  // namespace concord::vulkan
