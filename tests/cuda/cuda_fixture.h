#pragma once

// The CUDA backend's device on the software driver of tests/fake_cuda.

#include <cstdlib>
#include <memory>
#include <string>

#include "backends/cuda/device.h"
#include "graph/error.h"
#include "tests/fake_cuda/fake_driver.h"

namespace concord::cuda {

inline std::unique_ptr<gpu::Device> open_fake(bool replay = true, bool library = false) {
  setenv("CONCORD_CUDA_DRIVER", FAKE_CUDA_LIBRARY, 1);
  setenv("CONCORD_CUBLASLT", FAKE_CUBLASLT_LIBRARY, 1);
  CompileOptions options;
  options.replay = replay;
  options.matmul = library ? MatmulSource::library : MatmulSource::portable;
  return open_device({}, options).device;
}

// What the error says that `action` throws; empty when it throws none.
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace concord::cuda
