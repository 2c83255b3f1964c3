#pragma once

#include <memory>
#include <utility>

#include "backends/cuda/driver.h"

namespace concord::cuda {

// Owns what a function of the driver made and another one destroys. Results of destroying are of no
// use to anybody: what went wrong before is told by the next call that is checked.
template <class T>
class Handle {
 public:
  using Destroy = CUresult (*)(T);

  Handle() = default;
  Handle(T handle, Destroy destroy) : handle_(handle), destroy_(destroy) {}
  Handle(Handle&& other) noexcept { swap(other); }
  Handle& operator=(Handle&& other) noexcept {
    Handle moved(std::move(other));
    swap(moved);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (handle_ != nullptr) Driver::call(destroy_, handle_);
  }

  T get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  void swap(Handle& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
  }

  T handle_ = nullptr;
  Destroy destroy_ = nullptr;
};

}  // namespace concord::cuda
