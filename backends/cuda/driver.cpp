#include "backends/cuda/driver.h"

#include <cstdlib>

#include <dlfcn.h>

#include "backends/gpu/device_error.h"

#define CONCORD_STRING_OF(text) #text
#define CONCORD_STRING(macro) CONCORD_STRING_OF(macro)

namespace concord::cuda {
namespace {

constexpr const char* kUpdateHint = "install NVIDIA's driver 525 or newer, or use another backend";

std::string version_words(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string too_old(const std::string& has) {
  return "CUDA: the driver " + has + "; CUDA " + version_words(kOldestDriver) + " is needed";
}

const char* hint_for(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "use a smaller batch or sequence, close other programs on the device, or try "
             "precision=f16";
    case CUDA_ERROR_NO_DEVICE:
      return "see whether nvidia-smi lists a device, and what CUDA_VISIBLE_DEVICES says";
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return "install a newer driver; if there is none, please report this";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_UNKNOWN:
      return "see whether nvidia-smi works; after an update of the driver the machine needs a "
             "restart";
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
      return "the device is of no more use to this process; another run may work, and `dmesg` may "
             "tell more";
    default:
      return "see whether nvidia-smi works; if it does, please report this";
  }
}

}  // namespace

std::shared_ptr<const Driver> Driver::get() {
  static const std::shared_ptr<const Driver> driver(new Driver);
  return driver;
}

Driver::Driver() {
  const char* wanted = std::getenv("CONCORD_CUDA_DRIVER");
  path_ = wanted != nullptr && *wanted != '\0' ? wanted : "libcuda.so.1";
  void* library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    gpu::fail_device("CUDA: no driver library: " + std::string(reason == nullptr ? path_ : reason),
                     "install NVIDIA's driver, or use another backend");
  }
  load(library);  // stays open: contexts live to the end of the process
  if (version_ < kOldestDriver) {
    gpu::fail_device(too_old("is one for CUDA " + version_words(version_)), kUpdateHint);
  }
  check(call(cuInit, 0), "starting the driver");
}

void Driver::load(void* library) {
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  // The version first: it explains why others are missing.
  if (!find(cuDriverGetVersion, "cuDriverGetVersion") ||
      cuDriverGetVersion(&version_) != CUDA_SUCCESS) {
    gpu::fail_device("CUDA: " + path_ + " is no CUDA driver (it tells no version)",
                     "see what CONCORD_CUDA_DRIVER names");
  }
  const auto need = [&](auto& function, const char* name) {
    if (find(function, name)) return;
    gpu::fail_device(too_old("(" + version_text() + ") has no " + name), kUpdateHint);
  };
#define CONCORD_CUDA_FUNCTION(name) need(name, CONCORD_STRING(name));
#include "backends/cuda/functions.def"
#undef CONCORD_CUDA_FUNCTION
  need(elapsed_time, "cuEventElapsedTime");
}

std::string Driver::version_text() const {
  return "CUDA driver " + version_words(version_);
}

void Driver::check(CUresult result, const std::string& doing) const {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  const char* words = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) name = "an unknown error";
  if (cuGetErrorString(result, &words) != CUDA_SUCCESS || words == nullptr) words = "no words";
  gpu::fail_device("CUDA: " + doing + " failed with " + name + " (" +
                       std::to_string(static_cast<int>(result)) + ", " + words + ")",
                   hint_for(result));
}

std::uint64_t Driver::calls() {
  return count();
}

std::uint64_t& Driver::count() {
  thread_local std::uint64_t calls = 0;
  return calls;
}

}  // namespace concord::cuda
