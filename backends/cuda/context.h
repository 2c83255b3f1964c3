#pragma once

#include <memory>
#include <string>

#include "backends/cuda/driver.h"
#include "backends/cuda/handle.h"
#include "backends/cuda/physical_device.h"

namespace concord::cuda {

// A device's primary context with one stream for work, and the pool that its memory comes from.
// Everything made from it shares its ownership.
class Context {
 public:
  Context(std::shared_ptr<const Driver> driver, PhysicalDevice physical);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return *driver_; }
  const PhysicalDevice& physical() const { return physical_; }
  CUcontext handle() const { return context_; }
  CUstream stream() const { return stream_.get(); }
  CUmemoryPool pool() const { return pool_.get(); }

  // Makes this the calling thread's context; needed before every other call.
  void enter() const;

  void check(CUresult result, const std::string& doing) const { driver_->check(result, doing); }

  // Waits until everything given to the stream is done.
  void synchronise() const;

  template <class T>
  Handle<T> own(T handle, typename Handle<T>::Destroy destroy) const {
    return Handle<T>(handle, destroy);
  }
  Handle<CUevent> make_event(unsigned flags) const;
  Handle<CUstream> make_stream() const;

 private:
  std::shared_ptr<const Driver> driver_;
  PhysicalDevice physical_;
  CUcontext context_ = nullptr;
  Handle<CUmemoryPool> pool_;
  Handle<CUstream> stream_;
};

}  // namespace concord::cuda
