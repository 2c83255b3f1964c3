#pragma once

#include <span>

#include "backends/gpu/device.h"

namespace concord::gpu {

// A device whose memory the host reaches through copies, where it does not see it.
class StagedDevice : public Device {
 public:
  void upload(const MemoryRange& range, std::span<const std::byte> bytes) override;
  void download(const MemoryRange& range, std::span<std::byte> bytes) override;

 protected:
  // Blocking. Earlier work may use both ranges.
  virtual void copy(const MemoryRange& from, const MemoryRange& to) = 0;
};

}  // namespace concord::gpu
