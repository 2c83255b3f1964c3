// The software driver alone: mistakes in the use of contexts, pools, modules and graphs, each
// refused with its reason (driver_test.cpp has those of running work).

#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "tests/fake_cuda/driver_fixture.h"

namespace fake_cuda {
namespace {

// VkResult's, as fail() takes them.
constexpr int kOutOfMemory = -2;
constexpr int kDeviceLost = -4;
constexpr int kNoSuchFeature = -8;

// GoogleTest runs suites of this ending first, before anything starts the driver.
TEST(BeforeInitDeathTest, RefusesCallsBeforeInit) {
  int count = 0;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuDeviceGetCount)(&count), CUDA_ERROR_NOT_INITIALIZED,
                 "cuDeviceGetCount before cuInit");
}

// Before anything has read the twins, which is done once.
TEST(BeforeInitDeathTest, RefusesToStartOnWhatIsBroken) {
  fail("finding a driver that runs on the CPU and has 16-bit floats", 1, kNoSuchFeature);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuInit)(0), CUDA_ERROR_UNKNOWN,
                 "Vulkan: finding a driver that runs on the CPU and has 16-bit floats");
  ASSERT_EQ(FAKE_CUDA_CALL(cuInit)(0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuDevicePrimaryCtxRetain)(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(FAKE_CUDA_CALL(cuCtxSetCurrent)(context), CUDA_SUCCESS);
  const auto refuse_twin = [](const std::vector<std::uint32_t>& words, const char* reason) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "broken_twin";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "probe.stripped.spv", std::ios::binary)
        .write(reinterpret_cast<const char*>(words.data()),
               static_cast<std::streamsize>(words.size() * 4));
    setenv("CONCORD_FAKE_CUDA_KERNELS", folder.c_str(), 1);
    CUmodule made = nullptr;
    EXPECT_REFUSED(
        FAKE_CUDA_CALL(cuModuleLoadDataEx)(&made, probe_text().c_str(), 0, nullptr, nullptr),
        CUDA_ERROR_INVALID_PTX, reason);
    unsetenv("CONCORD_FAKE_CUDA_KERNELS");
    std::filesystem::remove_all(folder);
  };
  refuse_twin({0x07230203}, "cannot read ");
  refuse_twin({0x07230203, 0x10500, 0, 9, 0, (9U << 16) | 15U}, "probe.stripped.spv is cut");
  EXPECT_EQ(FAKE_CUDA_CALL(cuDevicePrimaryCtxRelease)(0), CUDA_SUCCESS);
}

TEST_F(FakeCuda, RefusesDevicesAndErrorsThatThereAreNot) {
  CUdevice found = 0;
  EXPECT_EQ(FAKE_CUDA_CALL(cuDeviceGet)(&found, 1), CUDA_ERROR_INVALID_DEVICE);
  const char* text = "";
  EXPECT_EQ(FAKE_CUDA_CALL(cuGetErrorName)(static_cast<CUresult>(12345), &text),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(FAKE_CUDA_CALL(cuGetErrorString)(static_cast<CUresult>(12345), &text),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(FakeCuda, RefusesContextsThatAreNotThere) {
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuCtxSetCurrent)(reinterpret_cast<CUcontext>(7)),
                 CUDA_ERROR_INVALID_CONTEXT, "a context that nobody retains");
  ASSERT_EQ(FAKE_CUDA_CALL(cuCtxSetCurrent)(nullptr), CUDA_SUCCESS);
  CUstream made = nullptr;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuStreamCreate)(&made, 0), CUDA_ERROR_INVALID_CONTEXT,
                 "a call without context");
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuDevicePrimaryCtxRelease)(5), CUDA_ERROR_INVALID_CONTEXT,
                 "a context is released twice");
  CUcontext restored = nullptr;  // what was counted below none
  ASSERT_EQ(FAKE_CUDA_CALL(cuDevicePrimaryCtxRetain)(&restored, 5), CUDA_SUCCESS);
}

TEST_F(FakeCuda, RefusesAttributesThatItDoesNotKnow) {
  int value = 0;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0),
                 CUDA_ERROR_INVALID_VALUE, "is not one that the software driver knows");
}

TEST_F(FakeCuda, RefusesWrongPools) {
  CUmemPoolProps properties{};
  CUmemoryPool made = nullptr;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemPoolCreate)(&made, &properties), CUDA_ERROR_INVALID_VALUE,
                 "a pool of a kind");
  auto* const unknown = reinterpret_cast<CUmemoryPool>(&properties);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemPoolDestroy)(unknown), CUDA_ERROR_INVALID_VALUE,
                 "unknown pool");
  CUdeviceptr address = 0;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemAllocFromPoolAsync)(&address, 4, unknown, stream),
                 CUDA_ERROR_INVALID_VALUE, "unknown pool");
  EXPECT_REFUSED(
      FAKE_CUDA_CALL(cuMemPoolSetAttribute)(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr),
      CUDA_ERROR_INVALID_VALUE, "an attribute of a pool");
}

TEST_F(FakeCuda, RefusesWrongAllocations) {
  CUdeviceptr made = 0;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemAllocFromPoolAsync)(&made, 0, pool, stream),
                 CUDA_ERROR_INVALID_VALUE, "an allocation of no bytes");
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemFreeAsync)(device + 16, stream), CUDA_ERROR_INVALID_VALUE,
                 "freeing what no pool gave");
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemFreeAsync)(4711, stream), CUDA_ERROR_INVALID_VALUE,
                 "is no device memory");
  void* pinned = nullptr;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemHostAlloc)(&pinned, 0, 0), CUDA_ERROR_INVALID_VALUE,
                 "an allocation of no bytes");
}

TEST_F(FakeCuda, RefusesToFreeTwice) {
  ASSERT_EQ(FAKE_CUDA_CALL(cuMemFreeAsync)(device, stream), CUDA_SUCCESS);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemFreeAsync)(device, stream), CUDA_ERROR_INVALID_VALUE,
                 "memory to free is freed memory");
  ASSERT_EQ(FAKE_CUDA_CALL(cuMemFreeHost)(host), CUDA_SUCCESS);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemFreeHost)(host), CUDA_ERROR_INVALID_VALUE,
                 "memory to free is freed memory");
}

// The driver below may have less memory than the device pretends to.
TEST_F(FakeCuda, RefusesAllocationsThatVulkanHasNoMemoryFor) {
  const unsigned long long before = bytes();
  for (const char* step :
       {"making a buffer", "allocating memory", "binding memory", "mapping memory"}) {
    fail(step, 1, kOutOfMemory);
    CUdeviceptr made = 0;
    EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemAllocFromPoolAsync)(&made, 64, pool, stream),
                   CUDA_ERROR_OUT_OF_MEMORY, std::string("Vulkan: ") + step);
    fail(step, 1, kOutOfMemory);
    void* pinned = nullptr;
    EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemHostAlloc)(&pinned, 64, 0), CUDA_ERROR_OUT_OF_MEMORY,
                   std::string("Vulkan: ") + step);
  }
  EXPECT_EQ(bytes(), before);
}

// What only shows when work is done breaks the context, as on a device.
TEST_F(FakeCuda, RefusesWorkThatVulkanCouldNotDo) {
  ASSERT_EQ(upload(), CUDA_SUCCESS);
  ASSERT_EQ(launch(device, target), CUDA_SUCCESS);
  fail("waiting", 1, kDeviceLost);
  EXPECT_REFUSED(synchronise(), CUDA_ERROR_LAUNCH_FAILED, "Vulkan: waiting");
  EXPECT_EQ(synchronise(), CUDA_ERROR_LAUNCH_FAILED) << "such an error lasts";
}

TEST_F(FakeCuda, RefusesWrongModules) {
  CUmodule made = nullptr;
  std::string text = probe_text();
  const auto at = text.find(".target sm_");
  text.replace(at, 13, ".target sm_90");
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuModuleLoadDataEx)(&made, text.c_str(), 0, nullptr, nullptr),
                 CUDA_ERROR_NO_BINARY_FOR_GPU, "PTX for sm_90");
  std::array<char, 128> log{};
  std::array<CUjit_option, 1> options{CU_JIT_ERROR_LOG_BUFFER};
  std::array<void*, 1> values{log.data()};
  EXPECT_REFUSED(
      FAKE_CUDA_CALL(cuModuleLoadDataEx)(&made, "no PTX", 1, options.data(), values.data()),
      CUDA_ERROR_INVALID_PTX, "no .version or no .target");
  EXPECT_EQ(std::string(log.data()), "no .version or no .target") << "in the caller's log too";
  text = ".version 8.0\n.target sm_75\n.visible .entry nobody_knows_me(\n.param .u64 a\n)\n";
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuModuleLoadDataEx)(&made, text.c_str(), 0, nullptr, nullptr),
                 CUDA_ERROR_INVALID_PTX, "has no SPIR-V twin");
  text = ".version 8.0\n.target sm_75\n.visible .entry probe_copy_f32(\n.param .u32 a\n)\n";
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuModuleLoadDataEx)(&made, text.c_str(), 0, nullptr, nullptr),
                 CUDA_ERROR_INVALID_PTX, "place parameters differently");
  text = ".version 8.0\n.target sm_75\n.visible .entry probe_copy_f32(\n.param .b8 a[4]\n)\n";
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuModuleLoadDataEx)(&made, text.c_str(), 0, nullptr, nullptr),
                 CUDA_ERROR_INVALID_PTX, "probe_copy_f32: parameter of type .b8");
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuModuleUnload)(reinterpret_cast<CUmodule>(&made)),
                 CUDA_ERROR_INVALID_HANDLE, "unknown module");
}

TEST_F(FakeCuda, RefusesLaunchesOfNoFunction) {
  copy_kernel = reinterpret_cast<CUfunction>(&host);
  EXPECT_REFUSED(launch(device, target), CUDA_ERROR_INVALID_HANDLE, "an unknown function");
}

TEST_F(FakeCuda, RefusesTimesOfEventsWithoutAny) {
  std::array<CUevent, 2> events{};
  for (CUevent& event : events) {
    ASSERT_EQ(FAKE_CUDA_CALL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  }
  float milliseconds = 0;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuEventElapsedTime)(&milliseconds, events[0], events[1]),
                 CUDA_ERROR_INVALID_HANDLE, "an event that has none");
}

TEST_F(FakeCuda, RefusesUnknownEventsAndModules) {
  auto* const event = reinterpret_cast<CUevent>(&host);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuEventRecord)(event, stream), CUDA_ERROR_INVALID_HANDLE,
                 "unknown event");
  CUfunction function = nullptr;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuModuleGetFunction)(&function, reinterpret_cast<CUmodule>(&host),
                                                     "probe_copy_f32"),
                 CUDA_ERROR_INVALID_HANDLE, "unknown module");
}

TEST_F(FakeCuda, RefusesWhatACaptureDoesNotAllow) {
  CUevent event = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuEventCreate)(&event, 0), CUDA_SUCCESS);
  const auto begin = [&] {
    return FAKE_CUDA_CALL(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  };
  ASSERT_EQ(begin(), CUDA_SUCCESS);
  EXPECT_REFUSED(begin(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                 "a capture while the stream captures");
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuEventRecord)(event, stream),
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                 "an event that others wait for while the stream captures");
  CUgraph graph = nullptr;
  EXPECT_EQ(FAKE_CUDA_CALL(cuStreamEndCapture)(stream, &graph), CUDA_SUCCESS);
}

// Graphs: one with a copy from device memory to device memory, instantiated.
class FakeCudaGraph : public FakeCuda {
 protected:
  void SetUp() override {
    FakeCuda::SetUp();
    ASSERT_EQ(FAKE_CUDA_CALL(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    ASSERT_EQ(add_copy(copy_of(target), &node), CUDA_SUCCESS);
    ASSERT_EQ(FAKE_CUDA_CALL(cuGraphInstantiate)(&exec, graph, 0), CUDA_SUCCESS);
  }

  CUDA_MEMCPY3D copy_of(CUdeviceptr to) const {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = device;
    copy.dstDevice = to;
    copy.WidthInBytes = 16;
    copy.Height = copy.Depth = 1;
    return copy;
  }
  CUresult add_copy(const CUDA_MEMCPY3D& copy, CUgraphNode* made, CUgraphNode after = nullptr) {
    return FAKE_CUDA_CALL(cuGraphAddMemcpyNode)(made, graph, &after, after == nullptr ? 0 : 1,
                                                &copy, nullptr);
  }
  CUresult update(const CUDA_MEMCPY3D& copy) {
    return FAKE_CUDA_CALL(cuGraphExecMemcpyNodeSetParams)(exec, node, &copy, nullptr);
  }
  CUDA_MEMSET_NODE_PARAMS fill_of(unsigned element) const {
    CUDA_MEMSET_NODE_PARAMS fill{};
    fill.dst = target;
    fill.elementSize = element;
    fill.width = fill.height = 1;
    return fill;
  }

  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
};

TEST_F(FakeCudaGraph, RefusesNodesThatItCannotCarryOut) {
  CUDA_MEMCPY3D copy = copy_of(target);
  copy.Height = 2;
  EXPECT_REFUSED(add_copy(copy, &node), CUDA_ERROR_INVALID_VALUE, "more than one row");
  const CUDA_MEMSET_NODE_PARAMS fill = fill_of(1);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuGraphAddMemsetNode)(&node, graph, nullptr, 0, &fill, nullptr),
                 CUDA_ERROR_INVALID_VALUE, "other than one row of words");
  copy = copy_of(target + kBytes - 8);
  EXPECT_REFUSED(add_copy(copy, &node), CUDA_ERROR_INVALID_VALUE, "behind an allocation");
}

TEST_F(FakeCudaGraph, RefusesEdgesToAnotherGraph) {
  CUgraph other = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuGraphCreate)(&other, 0), CUDA_SUCCESS);
  CUgraphNode made = nullptr;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuGraphAddEmptyNode)(&made, other, &node, 1),
                 CUDA_ERROR_INVALID_VALUE, "one of another graph");
}

TEST_F(FakeCudaGraph, RefusesUpdatesToAnotherKind) {
  CUDA_MEMCPY3D copy = copy_of(0);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  EXPECT_REFUSED(update(copy), CUDA_ERROR_INVALID_VALUE, "another kind of memory");
  const CUDA_MEMSET_NODE_PARAMS fill = fill_of(4);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuGraphExecMemsetNodeSetParams)(exec, node, &fill, nullptr),
                 CUDA_ERROR_INVALID_VALUE, "updated to another kind");
  node = reinterpret_cast<CUgraphNode>(&host);
  EXPECT_REFUSED(update(copy_of(target)), CUDA_ERROR_INVALID_VALUE, "unknown node");
}

TEST_F(FakeCudaGraph, RefusesChildrenOfAnotherForm) {
  CUgraph small = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuGraphCreate)(&small, 0), CUDA_SUCCESS);
  CUgraph parent = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuGraphCreate)(&parent, 0), CUDA_SUCCESS);
  CUgraphNode child = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuGraphAddChildGraphNode)(&child, parent, nullptr, 0, graph),
            CUDA_SUCCESS);
  CUgraphExec made = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuGraphInstantiate)(&made, parent, 0), CUDA_SUCCESS);
  EXPECT_EQ(FAKE_CUDA_CALL(cuGraphExecChildGraphNodeSetParams)(made, child, graph), CUDA_SUCCESS);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuGraphExecChildGraphNodeSetParams)(made, child, small),
                 CUDA_ERROR_INVALID_VALUE, "a child graph of another form");
}

TEST_F(FakeCudaGraph, RefusesUnknownGraphs) {
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuGraphDestroy)(reinterpret_cast<CUgraph>(&host)),
                 CUDA_ERROR_INVALID_VALUE, "unknown graph");
  auto* const unknown = reinterpret_cast<CUgraphExec>(&host);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuGraphLaunch)(unknown, stream), CUDA_ERROR_INVALID_HANDLE,
                 "unknown instantiated graph");
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuGraphExecDestroy)(unknown), CUDA_ERROR_INVALID_VALUE,
                 "unknown instantiated graph");
}

TEST_F(FakeCudaGraph, RefusesMemoryThatWasFreedBeforeTheLaunch) {
  ASSERT_EQ(FAKE_CUDA_CALL(cuMemFreeAsync)(target, stream), CUDA_SUCCESS);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuGraphLaunch)(exec, stream), CUDA_ERROR_ILLEGAL_ADDRESS,
                 "uses freed memory");
}

}  // namespace
}  // namespace fake_cuda
