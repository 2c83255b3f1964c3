#pragma once

// For tests of single kernels: vectors in, a launch by name, vectors out.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backends/gpu/kernel.h"
#include "tests/gpu/device_fixture.h"

namespace concord::gpu {

// Device memory that holds 32-bit elements.
struct Buffer {
  std::unique_ptr<Memory> memory;
  DevicePtr ptr;

  // The address of an element.
  DevicePtr at(std::int64_t element) const {
    return {ptr.address + static_cast<std::uint64_t>(element * 4)};
  }
};

// Empty vectors get memory too, as kernels must leave it alone.
template <class T>
Buffer upload(std::vector<T> values) {
  if (values.empty()) values.resize(1);
  Buffer buffer{to_device(values), {}};
  buffer.ptr = buffer.memory->address();
  return buffer;
}

template <class T>
std::vector<T> download(const Buffer& buffer, std::size_t count) {
  return from_device<T>(*buffer.memory, count);
}

// Grids of kernels that number their workgroups by linear_group.
inline std::array<std::uint32_t, 3> rows_of_groups(std::int64_t groups) {
  const auto count = static_cast<std::uint32_t>(groups);
  if (groups <= 32768) return {count, 1, 1};
  return {32768, (count + 32767) / 32768, 1};
}

// 256 invocations of 4 elements each.
inline std::array<std::uint32_t, 3> flat_groups(std::int64_t elements) {
  return rows_of_groups(std::max<std::int64_t>((elements + 1023) / 1024, 1));
}

template <class Params>
const Kernel& kernel_of(std::string_view name) {
  const Kernel* kernel = find_kernel_of<Params>(name);
  if (kernel == nullptr) throw std::runtime_error("no kernel " + std::string(name));
  return *kernel;
}

// Whether this device can run the kernel; tests skip where it cannot.
inline bool runs_here(std::string_view name) {
  const Kernel* kernel = find_kernel(name);
  return kernel != nullptr && missing_for(*kernel, test_device().properties()).empty();
}

template <class Params>
void launch(std::string_view name, std::array<std::uint32_t, 3> groups, const Params& params) {
  run_kernel(kernel_of<Params>(name), groups, params);
}

}  // namespace concord::gpu
