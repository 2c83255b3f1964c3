#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include <volk.h>

#include "backends/gpu/device.h"
#include "backends/gpu/free_list.h"
#include "backends/vulkan/context.h"
#include "backends/vulkan/handle.h"

namespace concord::vulkan {

// One VkDeviceMemory with one VkBuffer over all of it.
struct Block {
  Block(std::shared_ptr<Context> owner, std::size_t bytes, gpu::MemoryKind memory_kind);

  std::shared_ptr<Context> context;
  gpu::MemoryKind kind;
  std::size_t size;  // bytes
  Handle<VkDeviceMemory> memory;
  Handle<VkBuffer> buffer;
  VkDeviceAddress address = 0;
  std::byte* host = nullptr;
  gpu::FreeList free;
};

class Allocator;

// A part of a block.
class BlockMemory : public gpu::Memory {
 public:
  BlockMemory(std::shared_ptr<Allocator> allocator, std::shared_ptr<Block> block,
              std::size_t offset, std::size_t bytes);
  ~BlockMemory() override;

  gpu::DevicePtr address() const override { return {block_->address + offset_}; }
  std::size_t size() const override { return bytes_; }
  std::byte* host() const override {
    return block_->host == nullptr ? nullptr : block_->host + offset_;
  }
  VkBuffer buffer() const { return block_->buffer.get(); }
  VkDeviceSize buffer_offset() const { return offset_; }

 private:
  std::shared_ptr<Allocator> allocator_;
  std::shared_ptr<Block> block_;
  std::size_t offset_;
  std::size_t bytes_;
};

// Small pieces come out of shared blocks, large ones get a block of their own.
class Allocator : public std::enable_shared_from_this<Allocator> {
 public:
  explicit Allocator(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  std::unique_ptr<gpu::Memory> allocate(std::size_t bytes, gpu::MemoryKind kind);

 private:
  friend class BlockMemory;
  void release(const std::shared_ptr<Block>& block, std::size_t offset);

  std::shared_ptr<Context> context_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Block>> blocks_;
};

}  // namespace concord::vulkan
