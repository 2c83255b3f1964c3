// Memory, copies, modules.

#include <exception>
#include <string>

#include "tests/fake_cuda/entry.h"

namespace fake_cuda {
namespace {

#define FAKE_CUDA_RETURN_IF(call) \
  if (const CUresult failed = (call); failed != CUDA_SUCCESS) return failed

CUresult enqueue_copy(State& state, CUstream stream, const Range& from, const Range& to,
                      std::size_t bytes) {
  Stream* found = find(state, state.streams, stream, "stream");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return enqueue(*found, {CopyOp{from, to, bytes}, {from.allocation, to.allocation}}, "a copy");
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  FAKE_CUDA_ENTER("cuMemPoolCreate");
  if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
      properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return state.refuse(CUDA_ERROR_INVALID_VALUE, "a pool of a kind that devices don't have");
  }
  static std::uintptr_t last = 0;  // destroyed pools' handles don't come again
  auto* made = reinterpret_cast<CUmemoryPool>(++last);
  state.pools[made] = properties->location.id;
  *pool = made;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  FAKE_CUDA_ENTER("cuMemPoolDestroy");
  return state.pools.erase(pool) == 1 ? CUDA_SUCCESS
                                      : state.refuse(CUDA_ERROR_INVALID_VALUE, "unknown pool");
}

FAKE_CUDA_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which,
                                                void* value) {
  FAKE_CUDA_ENTER("cuMemPoolSetAttribute");
  if (!state.pools.contains(pool) || which != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ||
      value == nullptr) {
    return state.refuse(CUDA_ERROR_INVALID_VALUE, "an attribute of a pool");
  }
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes,
                                                  CUmemoryPool pool, CUstream stream) {
  FAKE_CUDA_ENTER("cuMemAllocFromPoolAsync");
  if (!state.pools.contains(pool)) {
    return state.refuse(CUDA_ERROR_INVALID_VALUE, "unknown pool");
  }
  Stream* found = find(state, state.streams, stream, "stream");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Allocation* made = nullptr;
  FAKE_CUDA_RETURN_IF(make_allocation(bytes, false, made));
  *address = made->buffer.address;
  return enqueue(*found, {EmptyOp{}, {made}}, "an allocation");
}

FAKE_CUDA_EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  FAKE_CUDA_ENTER("cuMemFreeAsync");
  Stream* found = find(state, state.streams, stream, "stream");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Range range;
  FAKE_CUDA_RETURN_IF(find_range(address, 0, "memory to free", range));
  if (range.offset != 0 || range.allocation->pinned) {
    return state.refuse(CUDA_ERROR_INVALID_VALUE, "freeing what no pool gave");
  }
  FAKE_CUDA_RETURN_IF(enqueue(*found, {EmptyOp{}, {range.allocation}}, "freeing"));
  free_allocation(*range.allocation);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuMemHostAlloc(void** host, std::size_t bytes, unsigned) {
  FAKE_CUDA_ENTER("cuMemHostAlloc");
  Allocation* made = nullptr;
  FAKE_CUDA_RETURN_IF(make_allocation(bytes, true, made));
  *host = made->buffer.host;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuMemFreeHost(void* host) {
  FAKE_CUDA_ENTER("cuMemFreeHost");
  Range range;
  FAKE_CUDA_RETURN_IF(find_pinned(host, 0, "memory to free", range));
  FAKE_CUDA_RETURN_IF(check_host_use(*range.allocation, "pinned memory is freed"));
  free_allocation(*range.allocation);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* host, unsigned) {
  FAKE_CUDA_ENTER("cuMemHostGetDevicePointer");
  Range range;
  FAKE_CUDA_RETURN_IF(find_pinned(host, 0, "memory of the host", range));
  *address = range.allocation->buffer.address + range.offset;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes,
                                            CUstream stream) {
  FAKE_CUDA_ENTER("cuMemcpyHtoDAsync");
  Range source;
  Range target;
  FAKE_CUDA_RETURN_IF(find_pinned(from, bytes, "a copy's source", source));
  FAKE_CUDA_RETURN_IF(find_range(to, bytes, "a copy's target", target));
  return enqueue_copy(state, stream, source, target, bytes);
}

FAKE_CUDA_EXPORT CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes,
                                            CUstream stream) {
  FAKE_CUDA_ENTER("cuMemcpyDtoHAsync");
  Range source;
  Range target;
  FAKE_CUDA_RETURN_IF(find_range(from, bytes, "a copy's source", source));
  FAKE_CUDA_RETURN_IF(find_pinned(to, bytes, "a copy's target", target));
  return enqueue_copy(state, stream, source, target, bytes);
}

FAKE_CUDA_EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                            CUstream stream) {
  FAKE_CUDA_ENTER("cuMemcpyDtoDAsync");
  Range source;
  Range target;
  FAKE_CUDA_RETURN_IF(find_range(from, bytes, "a copy's source", source));
  FAKE_CUDA_RETURN_IF(find_range(to, bytes, "a copy's target", target));
  return enqueue_copy(state, stream, source, target, bytes);
}

FAKE_CUDA_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t words,
                                           CUstream stream) {
  FAKE_CUDA_ENTER("cuMemsetD32Async");
  Stream* found = find(state, state.streams, stream, "stream");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Range range;
  FAKE_CUDA_RETURN_IF(find_range(to, words * 4, "a fill", range));
  return enqueue(*found, {FillOp{range, words, value}, {range.allocation}}, "a fill");
}

FAKE_CUDA_EXPORT CUresult cuModuleLoadDataEx(CUmodule* handle, const void* image, unsigned count,
                                             CUjit_option* options, void** values) {
  FAKE_CUDA_ENTER("cuModuleLoadDataEx");
  int device = 0;
  FAKE_CUDA_RETURN_IF(current_device(state, device));
  const auto say = [&](CUresult result, const std::string& what) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] != CU_JIT_ERROR_LOG_BUFFER) continue;
      auto* log = static_cast<char*>(values[i]);
      log[what.copy(log, 512)] = '\0';
    }
    return state.refuse(result, what);
  };
  auto module = std::make_unique<Module>();
  try {
    const PtxText ptx = read_ptx(static_cast<const char*>(image));
    // CUDA 12.x reads PTX 8.x, CUDA 11.x PTX 7.x.
    const int readable = (state.setup.version / 1000 - 4) * 10 + state.setup.version % 1000 / 10;
    if (ptx.version > readable) {
      return say(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                 "PTX " + std::to_string(ptx.version) + " is newer than the driver");
    }
    if (ptx.target > state.setup.capability) {
      return say(CUDA_ERROR_NO_BINARY_FOR_GPU, "PTX for sm_" + std::to_string(ptx.target));
    }
    for (const auto& [name, entry] : ptx.entries) {
      const Twin& twin = find_twin(name);
      std::vector<std::uint32_t> offsets;
      for (const PtxParam& param : entry.params) offsets.push_back(param.offset);
      if (offsets != twin.offsets) {
        return say(CUDA_ERROR_INVALID_PTX, name + ": PTX and SPIR-V place parameters differently");
      }
      module->functions[name] = {name, entry, &twin};
    }
  } catch (const std::exception& error) {
    return say(CUDA_ERROR_INVALID_PTX, error.what());
  }
  *handle = reinterpret_cast<CUmodule>(module.get());
  state.modules[*handle] = std::move(module);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuModuleUnload(CUmodule module) {
  FAKE_CUDA_ENTER("cuModuleUnload");
  run_all();
  return state.modules.erase(module) == 1
             ? CUDA_SUCCESS
             : state.refuse(CUDA_ERROR_INVALID_HANDLE, "unknown module");
}

FAKE_CUDA_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                                              const char* name) {
  FAKE_CUDA_ENTER("cuModuleGetFunction");
  Module* found = find(state, state.modules, module, "module");
  if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto at = found->functions.find(name);
  if (at == found->functions.end()) {
    return state.refuse(CUDA_ERROR_NOT_FOUND, std::string("no function ") + name);
  }
  *function = reinterpret_cast<CUfunction>(&at->second);
  return CUDA_SUCCESS;
}

}  // namespace fake_cuda
