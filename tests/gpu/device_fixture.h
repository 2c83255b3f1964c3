#pragma once

// For tests that run kernels on a real device: every Vulkan driver here that CONCORD_TEST_DEVICE
// fits (a piece of its name; the first one without it).

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "backends/gpu/device.h"

namespace concord::gpu {

// Shared by all tests of a program; throws where there is none.
Device& test_device();

template <class T>
std::unique_ptr<Memory> to_device(std::span<const T> values) {
  auto memory = test_device().allocate(values.size_bytes(), MemoryKind::kDevice);
  test_device().upload({memory.get(), 0, values.size_bytes()}, std::as_bytes(values));
  return memory;
}

template <class T>
std::unique_ptr<Memory> to_device(const std::vector<T>& values) {
  return to_device(std::span<const T>(values));
}

template <class T>
std::unique_ptr<Memory> on_device(std::size_t count) {
  return test_device().allocate(count * sizeof(T), MemoryKind::kDevice);
}

template <class T>
std::vector<T> from_device(const Memory& memory, std::size_t count) {
  std::vector<T> values(count);
  test_device().download({&memory, 0, count * sizeof(T)},
                         std::as_writable_bytes(std::span(values)));
  return values;
}

void run_commands(std::span<const Command> commands);

template <class Params>
void run_kernel(const TypedKernel<Params>& kernel, std::array<std::uint32_t, 3> groups,
                const Params& params) {
  const Command command = dispatch(kernel, groups, params);
  run_commands({&command, 1});
}

template <class Params>
void run_kernel(const Kernel& kernel, std::array<std::uint32_t, 3> groups, const Params& params) {
  const Command command = DispatchCommand{&kernel, groups, param_bytes(kernel, params)};
  run_commands({&command, 1});
}

}  // namespace concord::gpu
