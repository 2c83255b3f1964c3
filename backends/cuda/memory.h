#pragma once

#include <cstddef>
#include <memory>

#include "backends/cuda/context.h"
#include "backends/gpu/device.h"

namespace concord::cuda {

// Device memory out of the context's pool, or pinned memory of the host that copies are fast from.
class CudaMemory : public gpu::Memory {
 public:
  CudaMemory(std::shared_ptr<Context> context, std::size_t bytes, gpu::MemoryKind kind);
  ~CudaMemory() override;
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  gpu::DevicePtr address() const override { return {address_}; }
  std::size_t size() const override { return bytes_; }
  std::byte* host() const override { return host_; }

 private:
  std::shared_ptr<Context> context_;
  std::size_t bytes_;
  CUdeviceptr address_ = 0;
  std::byte* host_ = nullptr;
};

}  // namespace concord::cuda
