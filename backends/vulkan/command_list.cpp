#include "backends/vulkan/command_list.h"

#include <limits>
#include <string>
#include <utility>

#include "backends/gpu/device_error.h"
#include "backends/vulkan/memory.h"
#include "backends/vulkan/result.h"

namespace concord::vulkan {
namespace {

constexpr VkPipelineStageFlags kWork =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

const BlockMemory& block_memory(const gpu::MemoryRange& range) {
  return static_cast<const BlockMemory&>(*range.memory);
}

}  // namespace

VulkanCommandList::VulkanCommandList(std::shared_ptr<Context> context,
                                     std::shared_ptr<Pipelines> pipelines,
                                     std::span<const gpu::Command> commands, bool timestamps)
    : context_(std::move(context)), pipelines_(std::move(pipelines)) {
  const VolkDeviceTable& vk = context_->vk();
  const VkDevice device = context_->device();

  VkCommandPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool_info.queueFamilyIndex = context_->physical().queue_family;
  VkCommandPool pool = VK_NULL_HANDLE;
  check(vk.vkCreateCommandPool(device, &pool_info, nullptr, &pool), "making a command pool");
  pool_ = context_->own(pool, vk.vkDestroyCommandPool);

  VkCommandBufferAllocateInfo buffer_info{};
  buffer_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  buffer_info.commandPool = pool;
  buffer_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  buffer_info.commandBufferCount = 1;
  check(vk.vkAllocateCommandBuffers(device, &buffer_info, &buffer_), "making a command buffer");

  VkFenceCreateInfo fence_info{};
  fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence = VK_NULL_HANDLE;
  check(vk.vkCreateFence(device, &fence_info, nullptr, &fence), "making a fence");
  fence_ = context_->own(fence, vk.vkDestroyFence);

  if (timestamps && context_->physical().timestamp_bits != 0) {
    VkQueryPoolCreateInfo query_info{};
    query_info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    query_info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    query_info.queryCount = static_cast<std::uint32_t>(commands.size()) + 1;
    VkQueryPool queries = VK_NULL_HANDLE;
    check(vk.vkCreateQueryPool(device, &query_info, nullptr, &queries), "making a query pool");
    queries_ = context_->own(queries, vk.vkDestroyQueryPool);
  }
  record(commands);
}

VulkanCommandList::~VulkanCommandList() {
  if (running_) {
    const VkFence fence = fence_.get();
    context_->vk().vkWaitForFences(context_->device(), 1, &fence, VK_TRUE,
                                   std::numeric_limits<std::uint64_t>::max());
  }
}

void VulkanCommandList::record(std::span<const gpu::Command> commands) {
  const VolkDeviceTable& vk = context_->vk();
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  check(vk.vkBeginCommandBuffer(buffer_, &begin), "recording commands");
  if (queries_.get() != VK_NULL_HANDLE) {
    vk.vkCmdResetQueryPool(buffer_, queries_.get(), 0,
                           static_cast<std::uint32_t>(commands.size()) + 1);
  }
  // Writes of an earlier run of this or another list.
  barrier(kWork, kReads | kWrites);
  stamp();
  for (const gpu::Command& command : commands) {
    std::visit([this](const auto& one) { record_one(one); }, command);
    stamp();
  }
  barrier(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  check(vk.vkEndCommandBuffer(buffer_), "recording commands");
  context_->check_messages();
}

void VulkanCommandList::record_one(const gpu::DispatchCommand& command) {
  const VolkDeviceTable& vk = context_->vk();
  const gpu::Kernel& kernel = *command.kernel;
  const auto& limits = context_->physical().properties.max_groups;
  for (std::size_t i = 0; i < 3; ++i) {
    if (command.groups[i] == 0) return;
    if (command.groups[i] > limits[i]) {
      gpu::fail_device("kernel " + std::string(kernel.name) + " was given " +
                           std::to_string(command.groups[i]) + " groups, the device allows " +
                           std::to_string(limits[i]),
                       "use a smaller batch or sequence");
    }
  }
  if (command.params.size() != kernel.param_bytes) {
    gpu::fail_device("kernel " + std::string(kernel.name) + " was given parameters of another one",
                     "this is a mistake in Concord; please report it");
  }
  const Pipeline pipeline = pipelines_->get(kernel);
  if (pipeline.pipeline != bound_) {
    vk.vkCmdBindPipeline(buffer_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.pipeline);
    bound_ = pipeline.pipeline;
  }
  vk.vkCmdPushConstants(buffer_, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        kernel.param_bytes, command.params.data());
  vk.vkCmdDispatch(buffer_, command.groups[0], command.groups[1], command.groups[2]);
}

void VulkanCommandList::record_one(const gpu::CopyCommand& command) {
  if (command.from.bytes == 0) return;
  const BlockMemory& from = block_memory(command.from);
  const BlockMemory& to = block_memory(command.to);
  VkBufferCopy region{};
  region.srcOffset = from.buffer_offset() + command.from.offset;
  region.dstOffset = to.buffer_offset() + command.to.offset;
  region.size = command.from.bytes;
  context_->vk().vkCmdCopyBuffer(buffer_, from.buffer(), to.buffer(), 1, &region);
}

void VulkanCommandList::record_one(const gpu::FillCommand& command) {
  if (command.to.bytes == 0) return;
  const BlockMemory& to = block_memory(command.to);
  context_->vk().vkCmdFillBuffer(buffer_, to.buffer(), to.buffer_offset() + command.to.offset,
                                 command.to.bytes, command.value);
}

void VulkanCommandList::record_one(const gpu::LibraryMatmulCommand&) {
  gpu::fail_device("Vulkan has no library for matrix products",
                   "this is a mistake in Concord; please report it");
}

void VulkanCommandList::record_one(const gpu::BarrierCommand&) {
  barrier(kWork, kReads | kWrites);
}

void VulkanCommandList::barrier(VkPipelineStageFlags to_stages, VkAccessFlags to_access) {
  VkMemoryBarrier memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  memory.srcAccessMask = kWrites;
  memory.dstAccessMask = to_access;
  context_->vk().vkCmdPipelineBarrier(buffer_, kWork, to_stages, 0, 1, &memory, 0, nullptr, 0,
                                      nullptr);
}

void VulkanCommandList::stamp() {
  if (queries_.get() == VK_NULL_HANDLE) return;
  context_->vk().vkCmdWriteTimestamp(buffer_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_.get(),
                                     stamps_++);
}

void VulkanCommandList::submit() {
  wait();
  const VkFence fence = fence_.get();
  check(context_->vk().vkResetFences(context_->device(), 1, &fence), "resetting a fence");
  context_->submit(buffer_, fence);
  running_ = true;
}

void VulkanCommandList::wait() {
  if (!running_) return;
  const VkFence fence = fence_.get();
  check(context_->vk().vkWaitForFences(context_->device(), 1, &fence, VK_TRUE,
                                       std::numeric_limits<std::uint64_t>::max()),
        "waiting for the device");
  running_ = false;
  context_->check_messages();
}

std::vector<double> VulkanCommandList::times() const {
  if (stamps_ == 0) return {};
  std::vector<std::uint64_t> ticks(stamps_);
  check(context_->vk().vkGetQueryPoolResults(
            context_->device(), queries_.get(), 0, stamps_, ticks.size() * sizeof(ticks[0]),
            ticks.data(), sizeof(ticks[0]), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "reading timestamps");
  const std::uint32_t bits = context_->physical().timestamp_bits;
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  std::vector<double> times;
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    const std::uint64_t elapsed = (ticks[i] - ticks[i - 1]) & mask;
    times.push_back(static_cast<double>(elapsed) * context_->physical().timestamp_ns);
  }
  return times;
}

}  // namespace concord::vulkan
