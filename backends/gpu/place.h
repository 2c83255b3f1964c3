#pragma once

// Pointers before memory is laid out: until a plan is recorded, the pointers in its parameter
// blocks name a buffer of the plan and an offset in it, and say whether the kernel writes there.

#include <cstdint>

#include "backends/gpu/kernel.h"

namespace concord::gpu {

struct Place {
  std::int32_t buffer = -1;
  std::int64_t offset = 0;  // bytes, below 2^39
  bool written = false;
  bool read = false;
};

constexpr int kOffsetBits = 39;

constexpr DevicePtr encode(const Place& place) {
  return {(std::uint64_t{place.written} << 63) | (std::uint64_t{place.read} << 62) |
          (static_cast<std::uint64_t>(place.buffer + 1) << kOffsetBits) |
          static_cast<std::uint64_t>(place.offset)};
}

// A null pointer decodes to buffer −1.
constexpr Place decode(DevicePtr pointer) {
  constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;
  constexpr std::uint64_t kBufferMask = (std::uint64_t{1} << (62 - kOffsetBits)) - 1;
  return {static_cast<std::int32_t>((pointer.address >> kOffsetBits) & kBufferMask) - 1,
          static_cast<std::int64_t>(pointer.address & kOffsetMask),
          (pointer.address >> 63 & 1) != 0, (pointer.address >> 62 & 1) != 0};
}

}  // namespace concord::gpu
