// The CUDA device as the shared GPU code sees it, on the software driver.

#include <array>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>

#include "backends/cuda/command_list.h"
#include "backends/cuda/context.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/physical_device.h"
#include "backends/gpu/kernels/probe.h"
#include "tests/cuda/cuda_fixture.h"

namespace concord::cuda {
namespace {

using gpu::Command;
using gpu::MemoryKind;
using testing::HasSubstr;

std::vector<float> numbers(std::size_t count, float first = 0) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

class CudaDevice : public testing::Test {
 protected:
  static constexpr std::size_t kCount = 64;
  static constexpr std::size_t kBytes = kCount * sizeof(float);

  std::unique_ptr<gpu::Memory> uploaded(const std::vector<float>& values) {
    auto memory = device->allocate(values.size() * sizeof(float), MemoryKind::kDevice);
    device->upload({memory.get(), 0, memory->size()}, std::as_bytes(std::span(values)));
    return memory;
  }
  std::vector<float> downloaded(const gpu::Memory& memory) {
    std::vector<float> values(memory.size() / sizeof(float));
    device->download({&memory, 0, memory.size()}, std::as_writable_bytes(std::span(values)));
    return values;
  }
  static Command copy_kernel(const gpu::Memory& from, const gpu::Memory& to) {
    return gpu::dispatch(gpu::kernels::probe_copy_f32, {1, 1, 1},
                         {from.address(), to.address(), kCount / 4});
  }
  static void run(gpu::CommandList& list) {
    list.submit();
    list.wait();
  }

  std::unique_ptr<gpu::Device> device = open_fake();
};

TEST_F(CudaDevice, SaysThatItIsATestDouble) {
  EXPECT_THAT(device->properties().name, HasSubstr("software driver"));
  EXPECT_TRUE(device->properties().runs_ptx);
  EXPECT_EQ(device_list().size(), 1U);
}

TEST_F(CudaDevice, CopiesBothWays) {
  const std::vector<float> values = numbers(3000);
  const auto memory = uploaded(values);
  EXPECT_EQ(downloaded(*memory), values);
}

class Replays : public CudaDevice, public testing::WithParamInterface<int> {};

TEST_P(Replays, RunCommandsAgainAndAgain) {
  device = open_fake(GetParam() != 1);
  const auto source = uploaded(numbers(kCount));
  const auto middle = uploaded(numbers(kCount, 100));
  const auto target = uploaded(numbers(kCount, 200));
  const std::vector<Command> commands{
      gpu::FillCommand{{middle.get(), 0, kBytes}, 0}, gpu::BarrierCommand{},
      copy_kernel(*source, *middle), gpu::BarrierCommand{},
      gpu::CopyCommand{{middle.get(), 0, kBytes}, {target.get(), 0, kBytes}}};
  const auto list = device->record(commands, GetParam() == 2);
  for (int i = 0; i < 2; ++i) {
    run(*list);
    EXPECT_EQ(downloaded(*target), numbers(kCount));
  }
  EXPECT_EQ(list->times().size(), GetParam() == 2 ? commands.size() : 0);
}

INSTANTIATE_TEST_SUITE_P(AsGraphDirectTimed, Replays, testing::Values(0, 1, 2));

TEST_F(CudaDevice, AGraphRunsWithOneCall) {
  const auto source = uploaded(numbers(kCount));
  const auto target = uploaded(numbers(kCount, 100));
  const std::vector<Command> commands(20, copy_kernel(*source, *target));
  const auto list = device->record(commands, false);
  run(*list);
  const int before = fake_cuda::calls(nullptr);
  run(*list);
  // Context, launch, event; context, wait.
  EXPECT_LE(fake_cuda::calls(nullptr) - before, 5);
  EXPECT_EQ(fake_cuda::calls("cuLaunchKernel"), 0);
}

TEST_F(CudaDevice, KernelsAreLoadedOncePerDevice) {
  device->prepare(gpu::kernels::probe_copy_f32);
  const int loaded = fake_cuda::calls("cuModuleLoadDataEx");
  const auto again = open_fake();
  again->prepare(gpu::kernels::probe_copy_f32);
  EXPECT_EQ(fake_cuda::calls("cuModuleLoadDataEx"), loaded);
  device.reset();
  again->prepare(gpu::kernels::probe_copy_f32);
  EXPECT_EQ(fake_cuda::calls("cuModuleLoadDataEx"), loaded);
}

TEST_F(CudaDevice, WhatIsFreedIsGivenBack) {
  device->allocate(1 << 20, MemoryKind::kDevice);
  device->allocate(1 << 20, MemoryKind::kUpload);
  EXPECT_EQ(fake_cuda::bytes(), 0U);
}

TEST_F(CudaDevice, ErrorsCarryTheDriversWords) {
  fake_cuda::fail("cuMemAllocFromPoolAsync", 1, CUDA_ERROR_OUT_OF_MEMORY);
  const std::string memory =
      error_of([&] { device->allocate(std::size_t{5} << 20, MemoryKind::kDevice); });
  EXPECT_THAT(memory, HasSubstr("5 MiB"));
  EXPECT_THAT(memory, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_THAT(memory, HasSubstr("out of memory"));

  fake_cuda::fail("cuModuleLoadDataEx", 1, CUDA_ERROR_INVALID_PTX);
  const std::string loading = error_of([&] { device->prepare(gpu::kernels::probe_copy_f32); });
  EXPECT_THAT(loading, HasSubstr("probe_copy_f32"));
  EXPECT_THAT(loading, HasSubstr(device->properties().name));
  EXPECT_THAT(loading, HasSubstr("CUDA_ERROR_INVALID_PTX"));
}

// Every function that a run calls fails once: an error each time, nothing lost, and the next run
// is right.
TEST_F(CudaDevice, SurvivesAFaultOfEachFunction) {
  const auto work = [&] {
    device = open_fake();
    const auto source = uploaded(numbers(kCount));
    const auto target = uploaded(numbers(kCount, 100));
    const std::vector<Command> commands{
        copy_kernel(*source, *target), gpu::BarrierCommand{},
        gpu::CopyCommand{{target.get(), 0, kBytes}, {source.get(), 0, kBytes}},
        gpu::FillCommand{{target.get(), 0, 4}, 0}};
    for (const bool timed : {false, true}) {
      const auto list = device->record(commands, timed);
      run(*list);
      list->times();
    }
  };
  // A device that is opened anew makes all again, kernels too.
  device.reset();
  work();
  for (const char* function : {"cuDevicePrimaryCtxRetain",
                               "cuCtxSetCurrent",
                               "cuMemPoolCreate",
                               "cuMemPoolSetAttribute",
                               "cuStreamCreate",
                               "cuModuleLoadDataEx",
                               "cuModuleGetFunction",
                               "cuMemAllocFromPoolAsync",
                               "cuMemHostAlloc",
                               "cuMemHostGetDevicePointer",
                               "cuMemcpyHtoDAsync",
                               "cuMemcpyDtoDAsync",
                               "cuMemsetD32Async",
                               "cuStreamSynchronize",
                               "cuEventCreate",
                               "cuEventRecord",
                               "cuEventSynchronize",
                               "cuEventElapsedTime",
                               "cuLaunchKernel",
                               "cuGraphCreate",
                               "cuGraphAddKernelNode",
                               "cuGraphAddMemcpyNode",
                               "cuGraphAddMemsetNode",
                               "cuGraphInstantiate",
                               "cuGraphLaunch"}) {
    device.reset();
    fake_cuda::fail(function, 1, CUDA_ERROR_UNKNOWN);
    EXPECT_THAT(error_of(work), HasSubstr("CUDA_ERROR_UNKNOWN")) << function;
    EXPECT_EQ(fake_cuda::bytes(), 0U) << function;
    device.reset();
    EXPECT_EQ(error_of(work), "") << function;
  }
}

TEST_F(CudaDevice, ALostDeviceIsToldAndAnotherStartWorks) {
  const auto source = uploaded(numbers(kCount));
  auto list = device->record(std::vector<Command>{copy_kernel(*source, *source)}, false);
  fake_cuda::fail("cuGraphLaunch", 1, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THAT(error_of([&] { run(*list); }), HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
  EXPECT_THAT(error_of([&] { run(*list); }), HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
}

TEST_F(CudaDevice, AGraphTakesOtherParametersWithoutBeingMadeAgain) {
  const auto source = uploaded(numbers(kCount));
  const auto other = uploaded(numbers(kCount, 50));
  const auto target = uploaded(numbers(kCount, 100));
  const auto commands = [&](const gpu::Memory& from) {
    return std::vector<Command>{copy_kernel(from, *target), gpu::BarrierCommand{},
                                gpu::CopyCommand{{target.get(), 0, 16}, {target.get(), 32, 16}}};
  };
  auto list = device->record(commands(*source), false);
  run(*list);
  const int made = fake_cuda::calls("cuGraphInstantiate");
  list = device->record_again(std::move(list), commands(*other), false);
  run(*list);
  EXPECT_EQ(downloaded(*target)[20], 70.0F);
  EXPECT_EQ(fake_cuda::calls("cuGraphInstantiate"), made);
  EXPECT_EQ(fake_cuda::calls("cuGraphExecKernelNodeSetParams"), 1);
  EXPECT_EQ(fake_cuda::calls("cuGraphExecMemcpyNodeSetParams"), 0) << "it stayed the same";
  // Other kernels take a graph of their own.
  list = device->record_again(std::move(list), std::vector<Command>{gpu::BarrierCommand{}}, false);
  run(*list);
  EXPECT_EQ(fake_cuda::calls("cuGraphInstantiate"), made + 1);
}

}  // namespace
}  // namespace concord::cuda
