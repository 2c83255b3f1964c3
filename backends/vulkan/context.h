#pragma once

#include <memory>
#include <mutex>

#include <volk.h>

#include "backends/vulkan/handle.h"
#include "backends/vulkan/instance.h"
#include "backends/vulkan/physical_device.h"

namespace concord::vulkan {

// A logical device with one compute queue. Everything made from it shares its ownership.
class Context {
 public:
  Context(std::shared_ptr<Instance> instance, PhysicalDevice physical);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  VkDevice device() const { return device_; }
  const VolkDeviceTable& vk() const { return vk_; }
  const PhysicalDevice& physical() const { return physical_; }
  // Throws when the validation layers have complained.
  void check_messages() const { instance_->check_messages(); }

  // Starts `commands`; `fence` tells when they are done.
  void submit(VkCommandBuffer commands, VkFence fence);

  template <class T>
  Handle<T> own(T handle, typename Handle<T>::Destroy destroy) const {
    return Handle<T>(handle, device_, destroy);
  }

 private:
  std::shared_ptr<Instance> instance_;
  PhysicalDevice physical_;
  VkDevice device_ = VK_NULL_HANDLE;
  VolkDeviceTable vk_{};
  VkQueue queue_ = VK_NULL_HANDLE;
  std::mutex queue_mutex_;
};

}  // namespace concord::vulkan
