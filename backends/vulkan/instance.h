#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <volk.h>

namespace concord::vulkan {

// The process's connection to the Vulkan loader and its drivers, opened when first asked for.
//
// With CONCORD_VULKAN_VALIDATION=1 in the environment, the Khronos validation layer watches every
// call, synchronisation included, and a message of any severity from warning up makes the next
// check_messages() throw; one that comes when nobody can be told any more ends the process.
class Instance {
 public:
  // Throws when there is no loader, no driver, or no validation layer though one was asked for.
  static std::shared_ptr<Instance> get();

  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  VkInstance handle() const { return instance_; }
  std::uint32_t api_version() const { return api_version_; }
  void check_messages();

 private:
  Instance();
  static VkBool32 VKAPI_PTR on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                       VkDebugUtilsMessageTypeFlagsEXT type,
                                       const VkDebugUtilsMessengerCallbackDataEXT* data,
                                       void* user);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::uint32_t api_version_ = 0;
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

}  // namespace concord::vulkan
