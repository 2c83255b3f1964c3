#include "backends/cuda/context.h"

#include <limits>
#include <utility>

namespace concord::cuda {

Context::Context(std::shared_ptr<const Driver> driver, PhysicalDevice physical)
    : driver_(std::move(driver)), physical_(std::move(physical)) {
  const std::string& name = physical_.properties.name;
  check(Driver::call(driver_->cuDevicePrimaryCtxRetain, &context_, physical_.handle),
        "starting the device " + name);
  try {
    enter();
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = physical_.handle;
    CUmemoryPool pool = nullptr;
    check(Driver::call(driver_->cuMemPoolCreate, &pool, &properties), "making a memory pool");
    pool_ = own(pool, driver_->cuMemPoolDestroy);
    // What is freed stays in the pool: by default every synchronisation gives it back to the
    // system, and the next arena pays for it again.
    auto kept = std::numeric_limits<cuuint64_t>::max();
    check(Driver::call(driver_->cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                       static_cast<void*>(&kept)),
          "setting up a memory pool");
    stream_ = make_stream();
  } catch (...) {
    pool_ = {};
    Driver::call(driver_->cuDevicePrimaryCtxRelease, physical_.handle);
    throw;
  }
}

Context::~Context() {
  Driver::call(driver_->cuCtxSetCurrent, context_);
  Driver::call(driver_->cuStreamSynchronize, stream_.get());
  stream_ = {};
  pool_ = {};
  Driver::call(driver_->cuDevicePrimaryCtxRelease, physical_.handle);
}

void Context::enter() const {
  check(Driver::call(driver_->cuCtxSetCurrent, context_), "entering the device's context");
}

void Context::synchronise() const {
  check(Driver::call(driver_->cuStreamSynchronize, stream_.get()), "waiting for the device");
}

Handle<CUevent> Context::make_event(unsigned flags) const {
  CUevent event = nullptr;
  check(Driver::call(driver_->cuEventCreate, &event, flags), "making an event");
  return own(event, driver_->cuEventDestroy);
}

Handle<CUstream> Context::make_stream() const {
  CUstream stream = nullptr;
  check(
      Driver::call(driver_->cuStreamCreate, &stream, static_cast<unsigned>(CU_STREAM_NON_BLOCKING)),
      "making a stream");
  return own(stream, driver_->cuStreamDestroy);
}

}  // namespace concord::cuda
