#pragma once

#include <memory>
#include <string>

#include <cublasLt.h>

namespace concord::cuda {

// The functions of libcublasLt, or of the library that CONCORD_CUBLASLT names.
class BlasLibrary {
 public:
  struct Opened {
    std::shared_ptr<const BlasLibrary> library;  // null where there is none
    std::string reason;                          // then
  };
  static const Opened& get();

  std::string version_text() const;  // "cuBLASLt 13.0.2"
  // Throws unless `status` is CUBLAS_STATUS_SUCCESS, with the library's own words.
  void check(cublasStatus_t status, const std::string& doing) const;

#define CONCORD_CUBLAS_FUNCTION(name) decltype(&::name) name = nullptr;
#include "backends/cuda/blas_functions.def"
#undef CONCORD_CUBLAS_FUNCTION

 private:
  static Opened open();
};

}  // namespace concord::cuda
