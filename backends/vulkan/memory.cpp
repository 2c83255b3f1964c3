#include "backends/vulkan/memory.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "backends/gpu/device_error.h"
#include "backends/vulkan/result.h"

namespace concord::vulkan {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kBlockBytes = std::size_t{32} << 20;
constexpr std::size_t kLargeBytes = kBlockBytes / 4;  // these get a block of their own

std::string mebibytes(std::size_t bytes) {
  return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB";
}

// The first memory type that has the most of the properties that `kind` likes, all that it needs,
// and is among `allowed`.
std::uint32_t memory_type(VkPhysicalDevice device, std::uint32_t allowed, gpu::MemoryKind kind,
                          bool host_is_device) {
  constexpr VkMemoryPropertyFlags kHost =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VkMemoryPropertyFlags needed = kHost;
  VkMemoryPropertyFlags liked = 0;
  if (kind == gpu::MemoryKind::kDevice) {
    needed = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    liked = host_is_device ? kHost | VK_MEMORY_PROPERTY_HOST_CACHED_BIT : 0;
  } else if (kind == gpu::MemoryKind::kDownload) {
    liked = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  }
  VkPhysicalDeviceMemoryProperties memory{};
  vkGetPhysicalDeviceMemoryProperties(device, &memory);
  std::optional<std::uint32_t> best;
  int best_score = -1;
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    if ((allowed >> i & 1U) == 0 || (flags & needed) != needed) continue;
    const int score = std::popcount(flags & liked);
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  if (!best.has_value()) {
    gpu::fail_device("the device has no memory that fits storage buffers", "use another device");
  }
  return *best;
}

}  // namespace

Block::Block(std::shared_ptr<Context> owner, std::size_t bytes, gpu::MemoryKind memory_kind)
    : context(std::move(owner)), kind(memory_kind), size(bytes), free(bytes, kAlignment) {
  const VolkDeviceTable& vk = context->vk();
  const VkDevice device = context->device();
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  VkBuffer made_buffer = VK_NULL_HANDLE;
  check(vk.vkCreateBuffer(device, &info, nullptr, &made_buffer), "making a buffer");
  buffer = context->own(made_buffer, vk.vkDestroyBuffer);

  VkMemoryRequirements requirements{};
  vk.vkGetBufferMemoryRequirements(device, made_buffer, &requirements);
  const std::uint32_t type = memory_type(context->physical().handle, requirements.memoryTypeBits,
                                         kind, context->physical().properties.unified);
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocate.pNext = &flags;
  allocate.allocationSize = requirements.size;
  allocate.memoryTypeIndex = type;
  VkDeviceMemory made_memory = VK_NULL_HANDLE;
  check(vk.vkAllocateMemory(device, &allocate, nullptr, &made_memory),
        "allocating " + mebibytes(bytes) + " of device memory");
  memory = context->own(made_memory, vk.vkFreeMemory);
  check(vk.vkBindBufferMemory(device, made_buffer, made_memory, 0), "binding device memory");

  VkBufferDeviceAddressInfo where{};
  where.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  where.buffer = made_buffer;
  address = vk.vkGetBufferDeviceAddress(device, &where);

  VkPhysicalDeviceMemoryProperties types{};
  vkGetPhysicalDeviceMemoryProperties(context->physical().handle, &types);
  constexpr VkMemoryPropertyFlags kMappable =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  if ((types.memoryTypes[type].propertyFlags & kMappable) == kMappable) {
    void* mapped = nullptr;
    check(vk.vkMapMemory(device, made_memory, 0, VK_WHOLE_SIZE, 0, &mapped),
          "mapping device memory");
    host = static_cast<std::byte*>(mapped);
  }
}

BlockMemory::BlockMemory(std::shared_ptr<Allocator> allocator, std::shared_ptr<Block> block,
                         std::size_t offset, std::size_t bytes)
    : allocator_(std::move(allocator)), block_(std::move(block)), offset_(offset), bytes_(bytes) {}

BlockMemory::~BlockMemory() {
  allocator_->release(block_, offset_);
}

std::unique_ptr<gpu::Memory> Allocator::allocate(std::size_t bytes, gpu::MemoryKind kind) {
  const std::size_t rounded =
      std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  const std::uint64_t limit = context_->physical().properties.max_allocation_bytes;
  if (rounded > limit) {
    gpu::fail_device("a buffer of " + mebibytes(bytes) + " is larger than the device's limit of " +
                         mebibytes(limit),
                     "use a smaller batch or sequence, or another device");
  }
  const std::scoped_lock lock(mutex_);
  if (rounded < kLargeBytes) {
    for (const std::shared_ptr<Block>& block : blocks_) {
      if (block->kind != kind || block->size != kBlockBytes) continue;
      if (const auto offset = block->free.allocate(rounded)) {
        return std::make_unique<BlockMemory>(shared_from_this(), block, *offset, bytes);
      }
    }
  }
  const std::size_t block_bytes = rounded < kLargeBytes ? kBlockBytes : rounded;
  const auto block = std::make_shared<Block>(context_, block_bytes, kind);
  blocks_.push_back(block);
  context_->check_messages();
  const auto offset = block->free.allocate(rounded);
  return std::make_unique<BlockMemory>(shared_from_this(), block, offset.value(), bytes);
}

void Allocator::release(const std::shared_ptr<Block>& block, std::size_t offset) {
  const std::scoped_lock lock(mutex_);
  block->free.free(offset);
  if (block->free.unused()) blocks_.remove(block);
}

}  // namespace concord::vulkan
