#pragma once

// The Vulkan device that the software driver computes on.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <volk.h>

#include "tests/fake_cuda/code.h"

namespace fake_cuda {

struct Buffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  std::uint64_t address = 0;
  std::byte* host = nullptr;
};

// Not safe from many threads. Errors are thrown as std::runtime_error.
class Vulkan {
 public:
  static Vulkan& get();

  std::uint32_t subgroup_size() const { return subgroup_size_; }

  Buffer allocate(std::size_t bytes);
  void free(const Buffer& buffer);

  // Records a dispatch; those recorded run one after the other at finish().
  void dispatch(const std::string& kernel, const Twin& twin, std::array<std::uint32_t, 3> groups,
                std::span<const std::byte> params);
  void finish();

 private:
  struct Pipeline {
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkPipeline pipeline = VK_NULL_HANDLE;
  };

  Vulkan();
  void choose_device();
  void make_device();
  void fill_in(Buffer& made, std::size_t bytes);
  const Pipeline& pipeline(const std::string& kernel, const Twin& twin, std::uint32_t bytes);
  VkShaderModule shader(const std::string& file);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VolkDeviceTable vk_{};
  VkQueue queue_ = VK_NULL_HANDLE;
  std::uint32_t family_ = 0;
  std::uint32_t subgroup_size_ = 1;
  std::uint32_t memory_type_ = 0;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  bool recording_ = false;
  std::map<std::string, VkShaderModule> shaders_;
  std::map<std::string, Pipeline> pipelines_;
};

}  // namespace fake_cuda
