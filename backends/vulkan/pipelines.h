#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <volk.h>

#include "backends/gpu/kernel.h"
#include "backends/vulkan/context.h"
#include "backends/vulkan/handle.h"

namespace concord::vulkan {

struct Pipeline {
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
};

// Compiles each kernel once and keeps it as long as the device. Safe from many threads.
class Pipelines {
 public:
  explicit Pipelines(std::shared_ptr<Context> context);

  Pipeline get(const gpu::Kernel& kernel);

 private:
  VkShaderModule shader(const gpu::KernelModule& module);
  VkPipelineLayout layout(std::uint32_t push_bytes);

  std::shared_ptr<Context> context_;
  std::mutex mutex_;
  Handle<VkPipelineCache> cache_;
  std::map<const gpu::KernelModule*, Handle<VkShaderModule>> shaders_;
  std::map<std::uint32_t, Handle<VkPipelineLayout>> layouts_;
  std::map<const gpu::Kernel*, Handle<VkPipeline>> pipelines_;
};

}  // namespace concord::vulkan
