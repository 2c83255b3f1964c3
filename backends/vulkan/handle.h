#pragma once

#include <utility>

#include <volk.h>

namespace concord::vulkan {

// Owns an object that a logical device made.
template <class T>
class Handle {
 public:
  using Destroy = void(VKAPI_PTR*)(VkDevice, T, const VkAllocationCallbacks*);

  Handle() = default;
  Handle(T handle, VkDevice device, Destroy destroy)
      : handle_(handle), device_(device), destroy_(destroy) {}
  Handle(Handle&& other) noexcept { swap(other); }
  Handle& operator=(Handle&& other) noexcept {
    Handle moved(std::move(other));
    swap(moved);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (handle_ != VK_NULL_HANDLE) destroy_(device_, handle_, nullptr);
  }

  T get() const { return handle_; }

 private:
  void swap(Handle& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(device_, other.device_);
    std::swap(destroy_, other.destroy_);
  }

  T handle_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  Destroy destroy_ = nullptr;
};

}  // namespace concord::vulkan
