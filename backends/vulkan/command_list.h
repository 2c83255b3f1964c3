#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <volk.h>

#include "backends/gpu/device.h"
#include "backends/vulkan/context.h"
#include "backends/vulkan/handle.h"
#include "backends/vulkan/pipelines.h"

namespace concord::vulkan {

class VulkanCommandList : public gpu::CommandList {
 public:
  VulkanCommandList(std::shared_ptr<Context> context, std::shared_ptr<Pipelines> pipelines,
                    std::span<const gpu::Command> commands, bool timestamps);
  ~VulkanCommandList() override;

  void submit() override;
  void wait() override;
  std::vector<double> times() const override;

 private:
  void record(std::span<const gpu::Command> commands);
  void record_one(const gpu::DispatchCommand& command);
  void record_one(const gpu::CopyCommand& command);
  void record_one(const gpu::FillCommand& command);
  void record_one(const gpu::LibraryMatmulCommand& command);
  void record_one(const gpu::BarrierCommand& command);
  void barrier(VkPipelineStageFlags to_stages, VkAccessFlags to_access);
  void stamp();

  std::shared_ptr<Context> context_;
  std::shared_ptr<Pipelines> pipelines_;
  Handle<VkCommandPool> pool_;
  VkCommandBuffer buffer_ = VK_NULL_HANDLE;
  Handle<VkFence> fence_;
  Handle<VkQueryPool> queries_;
  std::uint32_t stamps_ = 0;
  VkPipeline bound_ = VK_NULL_HANDLE;
  bool running_ = false;
};

}  // namespace concord::vulkan
