#pragma once

// The software driver as a program uses it: a context and what a kernel needs.

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fake_cuda/fake_driver.h"

namespace fake_cuda {

inline std::string probe_text() {
  std::ifstream file(FAKE_CUDA_PTX_DIR "/probe.ptx");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A context, a pool, a stream, the kernels of probe.ptx, and memory for 64 floats.
class FakeCuda : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 256;

  void SetUp() override {
    ASSERT_EQ(FAKE_CUDA_CALL(cuInit)(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(FAKE_CUDA_CALL(cuDevicePrimaryCtxRetain)(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(FAKE_CUDA_CALL(cuCtxSetCurrent)(context), CUDA_SUCCESS);
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    ASSERT_EQ(FAKE_CUDA_CALL(cuMemPoolCreate)(&pool, &properties), CUDA_SUCCESS);
    ASSERT_EQ(FAKE_CUDA_CALL(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(
        FAKE_CUDA_CALL(cuModuleLoadDataEx)(&module, probe_text().c_str(), 0, nullptr, nullptr),
        CUDA_SUCCESS);
    ASSERT_EQ(FAKE_CUDA_CALL(cuModuleGetFunction)(&copy_kernel, module, "probe_copy_f32"),
              CUDA_SUCCESS);
    device = allocate();
    target = allocate();
    void* pinned = nullptr;
    ASSERT_EQ(FAKE_CUDA_CALL(cuMemHostAlloc)(&pinned, kBytes, 0), CUDA_SUCCESS);
    host = static_cast<float*>(pinned);
    complaint();
  }

  void TearDown() override {
    FAKE_CUDA_CALL(cuStreamDestroy)(stream);
    FAKE_CUDA_CALL(cuDevicePrimaryCtxRelease)(0);
  }

  CUdeviceptr allocate() {
    CUdeviceptr made = 0;
    EXPECT_EQ(FAKE_CUDA_CALL(cuMemAllocFromPoolAsync)(&made, kBytes, pool, stream), CUDA_SUCCESS);
    return made;
  }

  // probe_copy_f32 copies vectors of four.
  CUresult launch(CUdeviceptr from, CUdeviceptr to, std::array<unsigned, 3> grid = {1, 1, 1},
                  unsigned block = 0, std::size_t bytes = 20, CUstream on = nullptr) {
    std::array<std::byte, 32> params{};
    const std::int32_t count = 16;
    std::memcpy(params.data(), &from, 8);
    std::memcpy(params.data() + 8, &to, 8);
    std::memcpy(params.data() + 16, &count, 4);
    std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, params.data(),
                               CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    return FAKE_CUDA_CALL(cuLaunchKernel)(copy_kernel, grid[0], grid[1], grid[2],
                                          block == 0 ? kBlock : block, 1, 1, 0,
                                          on == nullptr ? stream : on, nullptr, extra.data());
  }

  CUresult upload(std::size_t bytes = kBytes) {
    return FAKE_CUDA_CALL(cuMemcpyHtoDAsync)(device, host, bytes, stream);
  }
  CUresult download(std::size_t bytes = kBytes) {
    return FAKE_CUDA_CALL(cuMemcpyDtoHAsync)(host, target, bytes, stream);
  }
  CUresult synchronise() { return FAKE_CUDA_CALL(cuStreamSynchronize)(stream); }

  static constexpr unsigned kBlock = 256;
  CUmemoryPool pool = nullptr;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  CUfunction copy_kernel = nullptr;
  CUdeviceptr device = 0;
  CUdeviceptr target = 0;
  float* host = nullptr;
};

#define EXPECT_REFUSED(call, result, text) \
  EXPECT_EQ(call, result);                 \
  EXPECT_NE(complaint().find(text), std::string::npos) << "expected: " << (text)

}  // namespace fake_cuda
