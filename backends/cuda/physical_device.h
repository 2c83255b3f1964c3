#pragma once

#include <vector>

#include "backends/cuda/driver.h"
#include "backends/gpu/select_device.h"

namespace concord::cuda {

// The floor: the first devices with tensor cores for 16-bit and 8-bit products (Turing).
constexpr int kOldestCapability = 75;
// Where products of bf16 and tf32 begin, and those of the kernels for matrix units (Ampere).
constexpr int kMatrixUnits = 80;

struct PhysicalDevice : gpu::Candidate {
  CUdevice handle = 0;
  int capability = 0;  // 75 is 7.5
  bool has_pools = false;
  bool unified_addresses = false;
};

// All devices that the driver offers; `unfit` says why one cannot be used. Throws when there is
// none.
std::vector<PhysicalDevice> physical_devices(const Driver& driver);

}  // namespace concord::cuda
