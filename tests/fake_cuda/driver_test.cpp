// The software driver alone: right programs run, and each wrong one is refused with its reason.

#include <array>
#include <cstring>

#include "tests/fake_cuda/driver_fixture.h"

namespace fake_cuda {
namespace {

TEST_F(FakeCuda, ACopyByAKernelArrives) {
  for (int i = 0; i < 64; ++i) host[i] = static_cast<float>(i);
  ASSERT_EQ(upload(), CUDA_SUCCESS);
  ASSERT_EQ(launch(device, target), CUDA_SUCCESS);
  ASSERT_EQ(download(), CUDA_SUCCESS);
  ASSERT_EQ(synchronise(), CUDA_SUCCESS);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(host[i], static_cast<float>(i));
  EXPECT_EQ(complaint(), "");
}

TEST_F(FakeCuda, NothingArrivesBeforeASynchronisation) {
  for (int i = 0; i < 64; ++i) host[i] = 1.0F;
  ASSERT_EQ(upload(), CUDA_SUCCESS);
  ASSERT_EQ(synchronise(), CUDA_SUCCESS);
  ASSERT_EQ(launch(device, target), CUDA_SUCCESS);
  ASSERT_EQ(download(), CUDA_SUCCESS);
  EXPECT_NE(host[0], 1.0F);
  ASSERT_EQ(synchronise(), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 1.0F);
}

TEST_F(FakeCuda, RefusesFreedMemory) {
  ASSERT_EQ(FAKE_CUDA_CALL(cuMemFreeAsync)(device, stream), CUDA_SUCCESS);
  EXPECT_REFUSED(launch(device, target), CUDA_ERROR_ILLEGAL_ADDRESS, "freed memory");
  EXPECT_EQ(synchronise(), CUDA_ERROR_ILLEGAL_ADDRESS) << "such an error lasts";
}

TEST_F(FakeCuda, RefusesCopiesToFreedMemory) {
  ASSERT_EQ(FAKE_CUDA_CALL(cuMemFreeAsync)(device, stream), CUDA_SUCCESS);
  EXPECT_REFUSED(upload(), CUDA_ERROR_INVALID_VALUE, "freed memory");
}

TEST_F(FakeCuda, RefusesPointersThatLeadNowhere) {
  EXPECT_REFUSED(launch(1234, target), CUDA_ERROR_ILLEGAL_ADDRESS, "leads nowhere");
}

TEST_F(FakeCuda, RefusesToFreeWhatAStreamStillReads) {
  ASSERT_EQ(upload(), CUDA_SUCCESS);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemFreeHost)(host), CUDA_ERROR_INVALID_VALUE,
                 "synchronisation is missing");
  ASSERT_EQ(synchronise(), CUDA_SUCCESS);
  EXPECT_EQ(FAKE_CUDA_CALL(cuMemFreeHost)(host), CUDA_SUCCESS);
}

TEST_F(FakeCuda, RefusesAnotherStreamsMemoryWithoutSynchronisation) {
  CUstream other = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(upload(), CUDA_SUCCESS);
  EXPECT_REFUSED(launch(device, target, {1, 1, 1}, 0, 20, other), CUDA_ERROR_INVALID_VALUE,
                 "synchronisation is missing");
  ASSERT_EQ(synchronise(), CUDA_SUCCESS);
  EXPECT_EQ(launch(device, target, {1, 1, 1}, 0, 20, other), CUDA_SUCCESS);
  FAKE_CUDA_CALL(cuStreamDestroy)(other);
}

TEST_F(FakeCuda, RefusesWrongGridsBlocksAndParameters) {
  EXPECT_REFUSED(launch(device, target, {0, 1, 1}), CUDA_ERROR_INVALID_VALUE, "a grid of 0");
  EXPECT_REFUSED(launch(device, target, {1, 65536, 1}), CUDA_ERROR_INVALID_VALUE, "a grid of");
  EXPECT_REFUSED(launch(device, target, {1, 1, 1}, kBlock / 2), CUDA_ERROR_INVALID_VALUE,
                 "was written for blocks of");
  EXPECT_REFUSED(launch(device, target, {1, 1, 1}, 0, 24), CUDA_ERROR_INVALID_VALUE,
                 "takes 20 bytes of parameters");
}

TEST_F(FakeCuda, RefusesCopiesAndFillsOutOfRange) {
  EXPECT_REFUSED(upload(kBytes + 4), CUDA_ERROR_INVALID_VALUE, "behind an allocation");
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemsetD32Async)(target, 0, kBytes / 4 + 1, stream),
                 CUDA_ERROR_INVALID_VALUE, "behind an allocation");
  std::array<float, 64> pageable{};
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemcpyHtoDAsync)(device, pageable.data(), kBytes, stream),
                 CUDA_ERROR_INVALID_VALUE, "no pinned memory");
}

TEST_F(FakeCuda, RefusesCapturesThatAreNotEnded) {
  ASSERT_EQ(FAKE_CUDA_CALL(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  EXPECT_REFUSED(synchronise(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "captures");
  CUstream other = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(FAKE_CUDA_CALL(cuStreamBeginCapture)(other, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  FAKE_CUDA_CALL(cuStreamDestroy)(other);
  EXPECT_NE(complaint().find("ends before its capture"), std::string::npos);
  CUgraph graph = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuStreamEndCapture)(stream, &graph), CUDA_SUCCESS);
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuStreamEndCapture)(stream, &graph),
                 CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "captures nothing");
}

TEST_F(FakeCuda, RefusesUnknownHandles) {
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuStreamSynchronize)(reinterpret_cast<CUstream>(&host)),
                 CUDA_ERROR_INVALID_HANDLE, "unknown stream");
  CUfunction function = nullptr;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuModuleGetFunction)(&function, module, "no_such_kernel"),
                 CUDA_ERROR_NOT_FOUND, "no function");
}

TEST_F(FakeCuda, RefusesPtxThatItsVersionCannotRead) {
  std::string text = probe_text();
  text.replace(text.find(".version 8.0"), 12, ".version 9.0");
  CUmodule made = nullptr;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuModuleLoadDataEx)(&made, text.c_str(), 0, nullptr, nullptr),
                 CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "newer than the driver");
}

TEST_F(FakeCuda, RefusesTheTimeOfEventsThatNobodyWaitedFor) {
  std::array<CUevent, 2> events{};
  for (CUevent& event : events) {
    ASSERT_EQ(FAKE_CUDA_CALL(cuEventCreate)(&event, 0), CUDA_SUCCESS);
    ASSERT_EQ(FAKE_CUDA_CALL(cuEventRecord)(event, stream), CUDA_SUCCESS);
  }
  float milliseconds = -1;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuEventElapsedTime)(&milliseconds, events[0], events[1]),
                 CUDA_ERROR_NOT_READY, "nobody waited");
  ASSERT_EQ(FAKE_CUDA_CALL(cuEventSynchronize)(events[1]), CUDA_SUCCESS);
  EXPECT_EQ(FAKE_CUDA_CALL(cuEventElapsedTime)(&milliseconds, events[0], events[1]), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0.0F);
}

TEST_F(FakeCuda, GraphsRunInAnyOrderThatTheirEdgesAllow) {
  CUgraph graph = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
  std::array<CUgraphNode, 2> nodes{};
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = target;
  fill.elementSize = 4;
  fill.width = 1;
  fill.height = 1;
  for (unsigned i = 0; i < 2; ++i) {
    fill.value = i;
    ASSERT_EQ(FAKE_CUDA_CALL(cuGraphAddMemsetNode)(&nodes[i], graph, nullptr, 0, &fill, nullptr),
              CUDA_SUCCESS);
  }
  CUgraphExec exec = nullptr;
  ASSERT_EQ(FAKE_CUDA_CALL(cuGraphInstantiate)(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(FAKE_CUDA_CALL(cuGraphLaunch)(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(download(4), CUDA_SUCCESS);
  ASSERT_EQ(synchronise(), CUDA_SUCCESS);
  std::uint32_t value = 7;
  std::memcpy(&value, host, 4);
  EXPECT_EQ(value, 0U) << "without an edge the later node runs first";
}

TEST_F(FakeCuda, FaultsComeAtTheCallThatWasNamed) {
  fail("cuLaunchKernel", 2, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(launch(device, target), CUDA_SUCCESS);
  EXPECT_EQ(launch(device, target), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(launch(device, target), CUDA_ERROR_LAUNCH_FAILED) << "such an error lasts";
}

TEST_F(FakeCuda, MemoryEnds) {
  CUdeviceptr made = 0;
  EXPECT_REFUSED(FAKE_CUDA_CALL(cuMemAllocFromPoolAsync)(&made, std::size_t{9} << 30, pool, stream),
                 CUDA_ERROR_OUT_OF_MEMORY, "used up");
}

}  // namespace
}  // namespace fake_cuda
