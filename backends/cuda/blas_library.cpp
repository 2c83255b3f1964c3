#include "backends/cuda/blas_library.h"

#include <cstdlib>
#include <vector>

#include <dlfcn.h>

#include "backends/gpu/device_error.h"

namespace concord::cuda {

const BlasLibrary::Opened& BlasLibrary::get() {
  static const Opened opened = open();
  return opened;
}

BlasLibrary::Opened BlasLibrary::open() {
  const char* wanted = std::getenv("CONCORD_CUBLASLT");
  // Either works: nothing is used that changed between the two.
  std::vector<std::string> names{"libcublasLt.so.13", "libcublasLt.so.12"};
  if (wanted != nullptr && *wanted != '\0') names = {wanted};
  void* handle = nullptr;
  std::string reason;
  for (const std::string& name : names) {
    handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) break;
    const char* error = dlerror();
    if (reason.empty()) reason = error == nullptr ? name + " was not found" : error;
  }
  if (handle == nullptr) return {nullptr, reason};
  auto library = std::make_shared<BlasLibrary>();
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
#define CONCORD_CUBLAS_FUNCTION(name) find(library->name, #name);
#include "backends/cuda/blas_functions.def"
#undef CONCORD_CUBLAS_FUNCTION
  if (!missing.empty()) return {nullptr, "libcublasLt has no " + missing};
  return {library, {}};
}

std::string BlasLibrary::version_text() const {
  const std::size_t version = cublasLtGetVersion();  // 130002 is 13.0.2
  return "cuBLASLt " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

void BlasLibrary::check(cublasStatus_t status, const std::string& doing) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  gpu::fail_device("cuBLASLt: " + doing + " failed with " + cublasLtGetStatusString(status) + " (" +
                       std::to_string(static_cast<int>(status)) + ")",
                   "matmul=portable does without cuBLASLt");
}

}  // namespace concord::cuda
