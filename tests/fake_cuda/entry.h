#pragma once

// What every function of the driver does first.

#include <mutex>

#include "tests/fake_cuda/state.h"

#define FAKE_CUDA_EXPORT extern "C" __attribute__((visibility("default")))

// Locks, counts the call, and returns a fault that was asked for or what broke the driver.
#define FAKE_CUDA_ENTER(name)               \
  State& state = State::get();              \
  const std::scoped_lock lock(state.mutex); \
  if (const CUresult fault = count_call(state, name); fault != CUDA_SUCCESS) return fault

namespace fake_cuda {

CUresult count_call(State& state, const char* name);

// The device of the calling thread's context; fails when there is none.
CUresult current_device(State& state, int& device);
CUresult set_current(State& state, CUcontext context);

// The object behind a handle; null, with a complaint, when it isn't one.
template <class Map>
auto* find(State& state, Map& map, const void* handle, const char* what) {
  const auto at = map.find(handle);
  if (at != map.end()) return at->second.get();
  state.refuse(CUDA_ERROR_INVALID_HANDLE, std::string("unknown ") + what);
  return static_cast<decltype(at->second.get())>(nullptr);
}

}  // namespace fake_cuda
