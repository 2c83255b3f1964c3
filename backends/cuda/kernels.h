#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "backends/cuda/context.h"
#include "backends/gpu/kernel.h"

namespace concord::cuda {

// Loads each kernel's PTX once and keeps it as long as the device. Safe from many threads.
class Kernels {
 public:
  explicit Kernels(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  CUfunction get(const gpu::Kernel& kernel);

 private:
  CUmodule load(const gpu::Kernel& kernel);

  std::shared_ptr<Context> context_;
  std::mutex mutex_;
  std::map<const gpu::KernelModule*, Handle<CUmodule>> modules_;
  std::map<const gpu::Kernel*, CUfunction> functions_;
};

}  // namespace concord::cuda
