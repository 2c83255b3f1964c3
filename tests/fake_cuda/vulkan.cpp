#include "tests/fake_cuda/vulkan.h"

#include <stdexcept>
#include <vector>

#include "tests/fake_cuda/state.h"

namespace fake_cuda {
namespace {

// Tests name what is done here to let it fail, as they name functions of CUDA.
void check(VkResult result, const char* doing) {
  if (const auto fault = State::get().take_step_fault(doing))
    result = static_cast<VkResult>(*fault);
  if (result == VK_SUCCESS) return;
  throw std::runtime_error(std::string("Vulkan: ") + doing + ": VkResult " +
                           std::to_string(static_cast<int>(result)));
}

}  // namespace

// Never destroyed: the driver's threads and the program's end come in any order.
Vulkan& Vulkan::get() {
  static auto* const vulkan = new Vulkan;  // NOLINT(cppcoreguidelines-owning-memory)
  return *vulkan;
}

Vulkan::Vulkan() {
  check(volkInitialize(), "opening the loader");
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  check(vkCreateInstance(&info, nullptr, &instance_), "making an instance");
  volkLoadInstance(instance_);
  choose_device();
  make_device();

  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = family_;
  check(vk_.vkCreateCommandPool(device_, &pool, nullptr, &pool_), "making a command pool");
  VkCommandBufferAllocateInfo buffer{};
  buffer.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  buffer.commandPool = pool_;
  buffer.commandBufferCount = 1;
  check(vk_.vkAllocateCommandBuffers(device_, &buffer, &commands_), "making a command buffer");
  VkFenceCreateInfo fence{};
  fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  check(vk_.vkCreateFence(device_, &fence, nullptr, &fence_), "making a fence");
}

void Vulkan::choose_device() {
  std::uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance_, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  vkEnumeratePhysicalDevices(instance_, &count, devices.data());
  for (const VkPhysicalDevice device : devices) {
    VkPhysicalDeviceVulkan11Properties v11{};
    v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &v11;
    vkGetPhysicalDeviceProperties2(device, &properties);
    VkPhysicalDeviceFeatures2 features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    VkPhysicalDeviceVulkan12Features v12{};
    v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features.pNext = &v12;
    vkGetPhysicalDeviceFeatures2(device, &features);
    // SwiftShader, also a CPU, has no 16-bit floats.
    if (properties.properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU ||
        v12.bufferDeviceAddress == VK_FALSE || v12.shaderFloat16 == VK_FALSE) {
      continue;
    }
    physical_ = device;
    subgroup_size_ = v11.subgroupSize;
    break;
  }
  check(physical_ == VK_NULL_HANDLE ? VK_ERROR_FEATURE_NOT_PRESENT : VK_SUCCESS,
        "finding a driver that runs on the CPU and has 16-bit floats");
}

void Vulkan::make_device() {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
  while (family_ < count && (families[family_].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family_;

  // Everything that the device has.
  VkPhysicalDeviceVulkan13Features v13{};
  v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  VkPhysicalDeviceVulkan12Features v12{};
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceProperties properties{};
  vkGetPhysicalDeviceProperties(physical_, &properties);
  v12.pNext = properties.apiVersion >= VK_API_VERSION_1_3 ? &v13 : nullptr;
  VkPhysicalDeviceVulkan11Features v11{};
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &v11;
  vkGetPhysicalDeviceFeatures2(physical_, &features);

  const float priority = 1.0F;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  check(vkCreateDevice(physical_, &info, nullptr, &device_), "starting a device");
  volkLoadDeviceTable(&vk_, device_);
  vk_.vkGetDeviceQueue(device_, family_, 0, &queue_);

  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  constexpr VkMemoryPropertyFlags kHost =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  while (memory_type_ < memory.memoryTypeCount &&
         (memory.memoryTypes[memory_type_].propertyFlags & kHost) != kHost) {
    ++memory_type_;
  }
}

Buffer Vulkan::allocate(std::size_t bytes) {
  Buffer made;
  try {
    fill_in(made, bytes);
  } catch (...) {
    free(made);
    throw;
  }
  return made;
}

void Vulkan::fill_in(Buffer& made, std::size_t bytes) {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  check(vk_.vkCreateBuffer(device_, &info, nullptr, &made.buffer), "making a buffer");
  VkMemoryRequirements requirements{};
  vk_.vkGetBufferMemoryRequirements(device_, made.buffer, &requirements);
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocate.pNext = &flags;
  allocate.allocationSize = requirements.size;
  allocate.memoryTypeIndex = memory_type_;
  check(vk_.vkAllocateMemory(device_, &allocate, nullptr, &made.memory), "allocating memory");
  check(vk_.vkBindBufferMemory(device_, made.buffer, made.memory, 0), "binding memory");
  VkBufferDeviceAddressInfo where{};
  where.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  where.buffer = made.buffer;
  made.address = vk_.vkGetBufferDeviceAddress(device_, &where);
  void* host = nullptr;
  check(vk_.vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &host), "mapping memory");
  made.host = static_cast<std::byte*>(host);
}

void Vulkan::free(const Buffer& buffer) {
  vk_.vkDestroyBuffer(device_, buffer.buffer, nullptr);
  vk_.vkFreeMemory(device_, buffer.memory, nullptr);
}

VkShaderModule Vulkan::shader(const std::string& file) {
  VkShaderModule& known = shaders_[file];
  if (known != VK_NULL_HANDLE) return known;
  const std::vector<std::uint32_t> words = read_words(file);
  VkShaderModuleCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = words.size() * 4;
  info.pCode = words.data();
  check(vk_.vkCreateShaderModule(device_, &info, nullptr, &known), "loading a shader");
  return known;
}

const Vulkan::Pipeline& Vulkan::pipeline(const std::string& kernel, const Twin& twin,
                                         std::uint32_t bytes) {
  Pipeline& known = pipelines_[kernel];
  if (known.pipeline != VK_NULL_HANDLE) return known;
  VkPushConstantRange range{};
  range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  range.size = bytes;
  VkPipelineLayoutCreateInfo layout{};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  check(vk_.vkCreatePipelineLayout(device_, &layout, nullptr, &known.layout), "making a layout");
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = shader(twin.file);
  info.stage.pName = kernel.c_str();
  info.layout = known.layout;
  check(vk_.vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &known.pipeline),
        "compiling a kernel");
  return known;
}

void Vulkan::dispatch(const std::string& kernel, const Twin& twin,
                      std::array<std::uint32_t, 3> groups, std::span<const std::byte> params) {
  const auto bytes = static_cast<std::uint32_t>(params.size());
  const Pipeline& to_run = pipeline(kernel, twin, bytes);
  if (!recording_) {
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(vk_.vkBeginCommandBuffer(commands_, &begin), "recording");
    recording_ = true;
  }
  vk_.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, to_run.pipeline);
  vk_.vkCmdPushConstants(commands_, to_run.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes,
                         params.data());
  vk_.vkCmdDispatch(commands_, groups[0], groups[1], groups[2]);
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask =
      VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT;
  vk_.vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                           VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                           &barrier, 0, nullptr, 0, nullptr);
}

void Vulkan::finish() {
  if (!recording_) return;
  recording_ = false;
  check(vk_.vkEndCommandBuffer(commands_), "recording");
  check(vk_.vkResetFences(device_, 1, &fence_), "resetting a fence");
  VkSubmitInfo submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands_;
  check(vk_.vkQueueSubmit(queue_, 1, &submit, fence_), "submitting");
  check(vk_.vkWaitForFences(device_, 1, &fence_, VK_TRUE, ~std::uint64_t{0}), "waiting");
}

}  // namespace fake_cuda
