#include "backends/cuda/memory.h"

#include <algorithm>
#include <string>
#include <utility>

namespace concord::cuda {
namespace {

std::string mebibytes(std::size_t bytes) {
  return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB";
}

}  // namespace

CudaMemory::CudaMemory(std::shared_ptr<Context> context, std::size_t bytes, gpu::MemoryKind kind)
    : context_(std::move(context)), bytes_(bytes) {
  const Driver& driver = context_->driver();
  const std::size_t asked = std::max<std::size_t>(bytes, 4);  // nothing at all is refused
  context_->enter();
  if (kind == gpu::MemoryKind::kDevice) {
    context_->check(Driver::call(driver.cuMemAllocFromPoolAsync, &address_, asked, context_->pool(),
                                 context_->stream()),
                    "allocating " + mebibytes(bytes) + " of device memory");
    return;
  }
  void* host = nullptr;
  context_->check(Driver::call(driver.cuMemHostAlloc, &host, asked, 0U),
                  "allocating " + mebibytes(bytes) + " of pinned memory");
  host_ = static_cast<std::byte*>(host);
  const CUresult found = Driver::call(driver.cuMemHostGetDevicePointer, &address_, host, 0U);
  if (found != CUDA_SUCCESS) Driver::call(driver.cuMemFreeHost, host);
  context_->check(found, "asking for the device's address of pinned memory");
}

CudaMemory::~CudaMemory() {
  const Driver& driver = context_->driver();
  Driver::call(driver.cuCtxSetCurrent, context_->handle());
  if (host_ != nullptr) {
    Driver::call(driver.cuMemFreeHost, static_cast<void*>(host_));
  } else {
    // After everything that the stream was given before, so that nothing need be waited for.
    Driver::call(driver.cuMemFreeAsync, address_, context_->stream());
  }
}

}  // namespace concord::cuda
