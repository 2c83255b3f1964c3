#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "backends/cuda/blas.h"
#include "backends/cuda/context.h"
#include "backends/cuda/kernels.h"
#include "backends/gpu/device.h"

namespace concord::cuda {

// A dispatch that has been checked, as launches and graph nodes take it.
struct Launch {
  CUfunction function = nullptr;
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
};

// Gives commands to streams, one by one.
class Launcher {
 public:
  // `blas`: null where matrix products are the kernels'.
  Launcher(std::shared_ptr<Context> context, std::shared_ptr<Kernels> kernels,
           std::shared_ptr<Blas> blas)
      : context_(std::move(context)), kernels_(std::move(kernels)), blas_(std::move(blas)) {}

  const std::shared_ptr<Context>& context() const { return context_; }

  // Loads what the commands need.
  void prepare(const gpu::Kernel& kernel) const { kernels_->get(kernel); }

  // Nothing for barriers: a stream works in order.
  void enqueue(const gpu::Command& command, CUstream stream) const;

  // Throws where the device cannot run it.
  Launch launch_of(const gpu::DispatchCommand& command) const;

  // Whether the command does nothing.
  static bool is_empty(const gpu::Command& command);

 private:
  void enqueue_one(const gpu::DispatchCommand& command, CUstream stream) const;
  void enqueue_one(const gpu::CopyCommand& command, CUstream stream) const;
  void enqueue_one(const gpu::FillCommand& command, CUstream stream) const;
  void enqueue_one(const gpu::LibraryMatmulCommand& command, CUstream stream) const;
  void enqueue_one(const gpu::BarrierCommand& command, CUstream stream) const;

  std::shared_ptr<Context> context_;
  std::shared_ptr<Kernels> kernels_;
  std::shared_ptr<Blas> blas_;
};

// A parameter block in the form of `extra`: the driver checks its size against the kernel's.
class ParamBlock {
 public:
  explicit ParamBlock(const gpu::DispatchCommand& command);
  ParamBlock(const ParamBlock&) = delete;
  ParamBlock& operator=(const ParamBlock&) = delete;
  void** extra() { return extra_.data(); }

 private:
  std::size_t bytes_;
  std::array<void*, 5> extra_;
};

inline CUdeviceptr address_of(const gpu::MemoryRange& range) {
  return range.memory->address().address + range.offset;
}

}  // namespace concord::cuda
