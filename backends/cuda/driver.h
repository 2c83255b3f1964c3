#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cuda.h>

namespace concord::cuda {

// The oldest driver that will do: CUDA 12.0, whose graphs and PTX the backend uses.
constexpr int kOldestDriver = 12000;

// The functions of libcuda.so.1, or of the library that CONCORD_CUDA_DRIVER names, opened when
// first asked for. Members have the names that cuda.h gives the functions.
class Driver {
 public:
  // Throws when there is no driver library, it is older than needed, or it does not start.
  static std::shared_ptr<const Driver> get();

  int version() const { return version_; }  // 12040 is 12.4
  std::string version_text() const;
  const std::string& path() const { return path_; }

  // Throws unless `result` is CUDA_SUCCESS, with the driver's own words. `doing`: "allocating 12
  // MiB of device memory".
  void check(CUresult result, const std::string& doing) const;

  // How many calls the calling thread has made through call().
  static std::uint64_t calls();

  // Counts the call and returns its result.
  template <class Function, class... Args>
  static CUresult call(Function function, Args... args) {
    ++count();
    return function(args...);
  }

#define CONCORD_CUDA_FUNCTION(name) decltype(&::name) name = nullptr;
#include "backends/cuda/functions.def"
#undef CONCORD_CUDA_FUNCTION
  // cuda.h of CUDA 13 knows only a version of it that came with CUDA 12.8.
  decltype(&::cuEventElapsedTime) elapsed_time = nullptr;

 private:
  Driver();
  void load(void* library);
  static std::uint64_t& count();

  std::string path_;
  int version_ = 0;
};

}  // namespace concord::cuda
