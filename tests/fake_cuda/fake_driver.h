#pragma once

// The software driver opened by a test, and set up before it reads its environment.

#include <string>

#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/fake_cuda/control.h"

namespace fake_cuda {

inline void* library() {
  static void* const handle = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return handle;
}

template <class Function>
Function* symbol(const char* name) {
  void* found = library() == nullptr ? nullptr : dlsym(library(), name);
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Function*>(found);
}

// FAKE_CUDA_CALL(cuInit)(0)
#define FAKE_CUDA_NAME_OF(text) #text
#define FAKE_CUDA_NAME(macro) FAKE_CUDA_NAME_OF(macro)
#define FAKE_CUDA_CALL(name) \
  (*::fake_cuda::symbol<std::remove_pointer_t<decltype(&::name)>>(FAKE_CUDA_NAME(name)))

// `result`: a CUresult, or a VkResult for a step in Vulkan.
inline void fail(const char* function, int nth, int result) {
  FAKE_CUDA_CALL(fakeCudaFail)(function, nth, result);
}

inline std::string complaint() {
  return FAKE_CUDA_CALL(fakeCudaComplaint)();
}

inline int calls(const char* function) {
  return FAKE_CUDA_CALL(fakeCudaCalls)(function);
}

inline unsigned long long bytes() {
  return FAKE_CUDA_CALL(fakeCudaBytes)();
}

}  // namespace fake_cuda
