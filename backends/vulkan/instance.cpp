#include "backends/vulkan/instance.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "backends/gpu/device_error.h"
#include "backends/vulkan/result.h"

namespace concord::vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

bool validation_wanted() {
  const char* value = std::getenv("CONCORD_VULKAN_VALIDATION");
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

bool layer_present(std::string_view name) {
  std::uint32_t count = 0;
  check(vkEnumerateInstanceLayerProperties(&count, nullptr), "listing layers");
  std::vector<VkLayerProperties> layers(count);
  check(vkEnumerateInstanceLayerProperties(&count, layers.data()), "listing layers");
  for (const VkLayerProperties& layer : layers) {
    if (name == layer.layerName) return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<Instance> Instance::get() {
  static std::mutex mutex;
  static std::weak_ptr<Instance> shared;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Instance> instance = shared.lock();
  if (instance == nullptr) {
    instance = std::shared_ptr<Instance>(new Instance);
    shared = instance;
  }
  return instance;
}

Instance::Instance() {
  if (volkInitialize() != VK_SUCCESS) {
    gpu::fail_device("the Vulkan loader libvulkan.so.1 was not found",
                     "install it (Debian: libvulkan1) and a driver (mesa-vulkan-drivers holds one "
                     "that runs on the CPU)");
  }
  const std::uint32_t loader_version = volkGetInstanceVersion();
  if (loader_version < VK_API_VERSION_1_2) {
    gpu::fail_device("the Vulkan loader is older than Vulkan 1.2", "update libvulkan1");
  }
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "concord";
  application.apiVersion =
      loader_version >= VK_API_VERSION_1_3 ? VK_API_VERSION_1_3 : VK_API_VERSION_1_2;
  api_version_ = application.apiVersion;

  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const VkValidationFeatureEnableEXT enabled[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkValidationFeaturesEXT features{};
  features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = enabled;
  VkDebugUtilsMessengerCreateInfoEXT messenger{};
  messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                              VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                          VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = &Instance::on_message;
  messenger.pUserData = this;
  const bool validate = validation_wanted();
  if (validate) {
    if (!layer_present(kValidationLayer)) {
      gpu::fail_device(
          "CONCORD_VULKAN_VALIDATION is set, but the Khronos validation layer is not "
          "installed",
          "install it (Debian: vulkan-validationlayers) or unset the variable");
    }
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
    info.pNext = &features;
    features.pNext = &messenger;
  }
  check(vkCreateInstance(&info, nullptr, &instance_), "starting Vulkan");
  volkLoadInstanceOnly(instance_);
  if (validate) {
    messenger.pNext = nullptr;
    check(vkCreateDebugUtilsMessengerEXT(instance_, &messenger, nullptr, &messenger_),
          "installing the debug messenger");
  }
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) {
    vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
  if (messages_.empty()) return;
  for (const std::string& message : messages_) std::fprintf(stderr, "%s\n", message.c_str());
  std::fputs("Vulkan validation messages that came too late to be thrown: ending.\n", stderr);
  std::abort();
}

VkBool32 VKAPI_PTR Instance::on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                        VkDebugUtilsMessageTypeFlagsEXT,
                                        const VkDebugUtilsMessengerCallbackDataEXT* data,
                                        void* user) {
  Instance& self = *static_cast<Instance*>(user);
  const std::scoped_lock lock(self.mutex_);
  self.messages_.emplace_back(data->pMessage);
  return VK_FALSE;
}

void Instance::check_messages() {
  const std::scoped_lock lock(mutex_);
  if (messages_.empty()) return;
  std::string text = "Vulkan validation: " + messages_.front();
  if (messages_.size() > 1) {
    text += " (and " + std::to_string(messages_.size() - 1) + " more messages)";
  }
  messages_.clear();
  gpu::fail_device(text, "this is a mistake in Concord or in a driver; please report it");
}

}  // namespace concord::vulkan
