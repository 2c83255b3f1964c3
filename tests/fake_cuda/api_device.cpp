// Start, devices, contexts, errors, and what tests may ask.

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "tests/fake_cuda/control.h"
#include "tests/fake_cuda/entry.h"

namespace fake_cuda {
namespace {

thread_local CUcontext current = nullptr;

CUcontext context_of(int device) {
  return reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
}

// Errors after which a context is of no more use.
bool is_lasting(CUresult result) {
  return result == CUDA_ERROR_LAUNCH_FAILED || result == CUDA_ERROR_ILLEGAL_ADDRESS ||
         result == CUDA_ERROR_ECC_UNCORRECTABLE || result == CUDA_ERROR_DEVICE_UNAVAILABLE;
}

struct Name {
  CUresult result;
  const char* name;
  const char* words;
};

constexpr Name kNames[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "the capture was not initiated in this stream"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE",
     "uncorrectable ECC error encountered"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"}};

const Name* name_of(CUresult result) {
  const auto* at = std::ranges::find(kNames, result, &Name::result);
  return at == std::end(kNames) ? nullptr : at;
}

}  // namespace

CUresult count_call(State& state, const char* name) {
  const int nth = ++state.calls[name];
  const std::string function = name;
  if (const auto fault = state.take_fault(function, nth)) {
    const auto result = static_cast<CUresult>(*fault);
    if (is_lasting(result)) state.broken = result;
    return result;
  }
  if (state.broken != CUDA_SUCCESS) return state.broken;
  if (!state.started && function != "cuInit" && function != "cuDriverGetVersion") {
    return state.refuse(CUDA_ERROR_NOT_INITIALIZED, function + " before cuInit");
  }
  return CUDA_SUCCESS;
}

CUresult current_device(State& state, int& device) {
  device = static_cast<int>(reinterpret_cast<std::uintptr_t>(current)) - 1;
  if (device >= 0 && state.contexts[device] > 0) return CUDA_SUCCESS;
  return state.refuse(CUDA_ERROR_INVALID_CONTEXT, "a call without context");
}

CUresult set_current(State& state, CUcontext context) {
  const int device = static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1;
  if (context != nullptr && state.contexts[device] == 0) {
    return state.refuse(CUDA_ERROR_INVALID_CONTEXT, "a context that nobody retains");
  }
  current = context;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuInit(unsigned) {
  FAKE_CUDA_ENTER("cuInit");
  if (state.setup.devices == 0) return CUDA_ERROR_NO_DEVICE;
  try {
    Vulkan::get();
  } catch (const std::exception& error) {
    return state.refuse(CUDA_ERROR_UNKNOWN, error.what());
  }
  state.started = true;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuDriverGetVersion(int* version) {
  FAKE_CUDA_ENTER("cuDriverGetVersion");
  *version = state.setup.version;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuGetErrorName(CUresult result, const char** name) {
  const Name* found = name_of(result);
  *name = found == nullptr ? nullptr : found->name;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuGetErrorString(CUresult result, const char** words) {
  const Name* found = name_of(result);
  *words = found == nullptr ? nullptr : found->words;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuDeviceGetCount(int* count) {
  FAKE_CUDA_ENTER("cuDeviceGetCount");
  *count = state.setup.devices;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  FAKE_CUDA_ENTER("cuDeviceGet");
  if (ordinal < 0 || ordinal >= state.setup.devices) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  FAKE_CUDA_ENTER("cuDeviceGetName");
  const std::string text = "Concord software driver " + std::to_string(device);
  std::strncpy(name, text.c_str(), static_cast<std::size_t>(bytes));
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  FAKE_CUDA_ENTER("cuDeviceTotalMem");
  *bytes = state.setup.memory;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  FAKE_CUDA_ENTER("cuDeviceGetAttribute");
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = state.setup.capability / 10;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = state.setup.capability % 10;
      break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      *value = static_cast<int>(Vulkan::get().subgroup_size());
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 1;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      *value = 48 << 10;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      *value = 0x7fffffff;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      *value = 65535;
      break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
      *value = 1;
      break;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
      *value = 0;
      break;
    default:
      return state.refuse(CUDA_ERROR_INVALID_VALUE,
                          "attribute " + std::to_string(static_cast<int>(which)) +
                              " is not one that the software driver knows");
  }
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  FAKE_CUDA_ENTER("cuDevicePrimaryCtxRetain");
  ++state.contexts[device];
  *context = context_of(device);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  State& state = State::get();
  const std::scoped_lock lock(state.mutex);
  ++state.calls["cuDevicePrimaryCtxRelease"];
  if (--state.contexts[device] < 0) {
    return state.refuse(CUDA_ERROR_INVALID_CONTEXT, "a context is released twice");
  }
  const bool last =
      std::ranges::all_of(state.contexts, [](const auto& one) { return one.second == 0; });
  if (last) state.broken = CUDA_SUCCESS;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  FAKE_CUDA_ENTER("cuCtxSetCurrent");
  return set_current(state, context);
}

FAKE_CUDA_EXPORT void fakeCudaFail(const char* function, int nth, int result) {
  State& state = State::get();
  const std::scoped_lock lock(state.mutex);
  const std::string name = function;
  const int before = name.starts_with("cu") ? state.calls[name] : state.steps[name];
  state.faults[name][before + nth] = result;
}

FAKE_CUDA_EXPORT int fakeCudaCalls(const char* function) {
  State& state = State::get();
  const std::scoped_lock lock(state.mutex);
  if (function != nullptr) return state.calls[function];
  int all = 0;
  for (const auto& [name, count] : state.calls) all += count;
  return all;
}

FAKE_CUDA_EXPORT const char* fakeCudaComplaint() {
  static std::string last;
  State& state = State::get();
  const std::scoped_lock lock(state.mutex);
  last = std::move(state.complaint);
  state.complaint.clear();
  return last.c_str();
}

FAKE_CUDA_EXPORT void* fakeCudaHost(unsigned long long address, unsigned long long bytes) {
  State& state = State::get();
  const std::scoped_lock lock(state.mutex);
  Range range;
  if (find_range(address, bytes, "an address", range) != CUDA_SUCCESS) return nullptr;
  return range.host();
}

FAKE_CUDA_EXPORT unsigned long long fakeCudaBytes() {
  State& state = State::get();
  const std::scoped_lock lock(state.mutex);
  return state.in_use;
}

}  // namespace fake_cuda
