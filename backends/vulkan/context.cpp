#include "backends/vulkan/context.h"

#include <utility>
#include <vector>

#include "backends/vulkan/result.h"

namespace concord::vulkan {

Context::Context(std::shared_ptr<Instance> instance, PhysicalDevice physical)
    : instance_(std::move(instance)), physical_(std::move(physical)) {
  const gpu::KernelNeeds& abilities = physical_.properties.abilities;
  const auto flag = [](bool on) -> VkBool32 { return on ? VK_TRUE : VK_FALSE; };

  VkPhysicalDeviceShaderIntegerDotProductFeatures dot{};
  dot.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES;
  dot.shaderIntegerDotProduct = VK_TRUE;
  VkPhysicalDeviceVulkan12Features v12{};
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  v12.pNext = physical_.has_integer_dot ? &dot : nullptr;
  v12.bufferDeviceAddress = VK_TRUE;
  v12.timelineSemaphore = VK_TRUE;
  v12.shaderFloat16 = flag(abilities.f16);
  v12.shaderInt8 = flag(abilities.i8);
  v12.storageBuffer8BitAccess = flag(abilities.storage8);
  VkPhysicalDeviceVulkan11Features v11{};
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  v11.storageBuffer16BitAccess = flag(abilities.storage16);
  v11.storagePushConstant16 = flag(physical_.has_push_constant16);
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &v11;
  features.features.shaderFloat64 = flag(abilities.f64);
  features.features.shaderInt16 = flag(abilities.i16);
  features.features.shaderInt64 = flag(abilities.i64);

  const float priority = 1.0F;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = physical_.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;

  std::vector<const char*> extensions;
  VkPhysicalDeviceProperties basic{};
  vkGetPhysicalDeviceProperties(physical_.handle, &basic);
  if (physical_.has_integer_dot && basic.apiVersion < VK_API_VERSION_1_3) {
    extensions.push_back(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  }
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  check(vkCreateDevice(physical_.handle, &info, nullptr, &device_),
        "starting the device " + physical_.properties.name);
  volkLoadDeviceTable(&vk_, device_);
  vk_.vkGetDeviceQueue(device_, physical_.queue_family, 0, &queue_);
}

Context::~Context() {
  if (device_ == VK_NULL_HANDLE) return;
  vk_.vkDeviceWaitIdle(device_);
  vk_.vkDestroyDevice(device_, nullptr);
}

void Context::submit(VkCommandBuffer commands, VkFence fence) {
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  {
    const std::scoped_lock lock(queue_mutex_);
    check(vk_.vkQueueSubmit(queue_, 1, &info, fence), "submitting work to the device");
  }
  check_messages();
}

}  // namespace concord::vulkan
