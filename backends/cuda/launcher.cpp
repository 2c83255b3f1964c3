#include "backends/cuda/launcher.h"

#include <algorithm>
#include <string>
#include <variant>

#include "backends/gpu/device_error.h"

namespace concord::cuda {

ParamBlock::ParamBlock(const gpu::DispatchCommand& command)
    : bytes_(command.params.size()),
      extra_{CU_LAUNCH_PARAM_BUFFER_POINTER,
             const_cast<std::byte*>(command.params.data()),  // NOLINT: the driver only reads it
             CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes_, CU_LAUNCH_PARAM_END} {}

bool Launcher::is_empty(const gpu::Command& command) {
  if (const auto* dispatch = std::get_if<gpu::DispatchCommand>(&command)) {
    return std::ranges::find(dispatch->groups, 0U) != dispatch->groups.end();
  }
  if (const auto* copy = std::get_if<gpu::CopyCommand>(&command)) return copy->from.bytes == 0;
  if (const auto* fill = std::get_if<gpu::FillCommand>(&command)) return fill->to.bytes == 0;
  return std::holds_alternative<gpu::BarrierCommand>(command);
}

Launch Launcher::launch_of(const gpu::DispatchCommand& command) const {
  const gpu::Kernel& kernel = *command.kernel;
  const auto& limits = context_->physical().properties.max_groups;
  for (std::size_t i = 0; i < 3; ++i) {
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
  return {kernels_->get(kernel), command.groups, kernel.workgroup};
}

void Launcher::enqueue(const gpu::Command& command, CUstream stream) const {
  if (is_empty(command)) return;
  std::visit([&](const auto& one) { enqueue_one(one, stream); }, command);
}

void Launcher::enqueue_one(const gpu::DispatchCommand& command, CUstream stream) const {
  const Launch launch = launch_of(command);
  ParamBlock params(command);
  const auto& [x, y, z] = launch.grid;
  const auto& block = launch.block;
  const CUresult result =
      Driver::call(context_->driver().cuLaunchKernel, launch.function, x, y, z, block[0], block[1],
                   block[2], 0U, stream, static_cast<void**>(nullptr), params.extra());
  if (result != CUDA_SUCCESS) {
    context_->check(result, "launching kernel " + std::string(command.kernel->name));
  }
}

void Launcher::enqueue_one(const gpu::CopyCommand& command, CUstream stream) const {
  const Driver& driver = context_->driver();
  const gpu::MemoryRange& from = command.from;
  const gpu::MemoryRange& to = command.to;
  const std::byte* from_host = from.memory->host();
  std::byte* to_host = to.memory->host();
  CUresult result = CUDA_SUCCESS;
  if (from_host != nullptr) {
    result = Driver::call(driver.cuMemcpyHtoDAsync, address_of(to),
                          static_cast<const void*>(from_host + from.offset), from.bytes, stream);
  } else if (to_host != nullptr) {
    result = Driver::call(driver.cuMemcpyDtoHAsync, static_cast<void*>(to_host + to.offset),
                          address_of(from), from.bytes, stream);
  } else {
    result = Driver::call(driver.cuMemcpyDtoDAsync, address_of(to), address_of(from), from.bytes,
                          stream);
  }
  context_->check(result, "copying " + std::to_string(from.bytes) + " bytes");
}

void Launcher::enqueue_one(const gpu::FillCommand& command, CUstream stream) const {
  context_->check(Driver::call(context_->driver().cuMemsetD32Async, address_of(command.to),
                               command.value, command.to.bytes / 4, stream),
                  "filling " + std::to_string(command.to.bytes) + " bytes");
}

void Launcher::enqueue_one(const gpu::LibraryMatmulCommand& command, CUstream stream) const {
  if (blas_ == nullptr) {
    gpu::fail_device("there is no library for matrix products here",
                     "this is a mistake in Concord; please report it");
  }
  blas_->enqueue(command, stream);
}

void Launcher::enqueue_one(const gpu::BarrierCommand&, CUstream) const {}

}  // namespace concord::cuda
