#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/gpu/device.h"

namespace concord::gpu {

// A device that a driver offers.
struct Candidate {
  std::uint32_t index = 0;  // in the driver's order; what device=N names
  DeviceProperties properties;
  std::string unfit;  // why Concord cannot use it; empty when it can
};

// The device that `wanted` names: an index, or a piece of the device's or driver's name in any
// case (a number: of the device's) that fits one device; empty means the first fit device that is
// no CPU, else the first fit one. Throws with the list of devices when none or several fit. `api`:
// "Vulkan".
std::size_t select_candidate(const std::vector<const Candidate*>& devices,
                             const std::string& wanted, const std::string& api);

// Those that can be used. Throws with the reasons and `hint` when there is none.
std::vector<const Candidate*> fit_candidates(const std::vector<const Candidate*>& devices,
                                             const std::string& api, const std::string& hint);

template <class Device>
std::vector<const Candidate*> candidates_of(const std::vector<Device>& devices) {
  std::vector<const Candidate*> candidates;
  for (const Device& device : devices) candidates.push_back(&device);
  return candidates;
}

}  // namespace concord::gpu
