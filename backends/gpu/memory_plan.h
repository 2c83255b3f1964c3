#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace concord::gpu {

// A buffer that holds data from command `first` to command `last`, both included.
struct Lifetime {
  std::int64_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
};

struct MemoryLayout {
  std::vector<std::int64_t> offsets;  // bytes, one per lifetime
  std::int64_t bytes = 0;             // of the whole arena
};

constexpr std::int64_t kArenaAlignment = 256;  // bytes

// Places buffers so that those alive at the same time don't overlap: largest first, each at the
// lowest place that is free.
MemoryLayout lay_out(std::span<const Lifetime> lifetimes);

// Each buffer has a place of its own.
MemoryLayout lay_out_apart(std::span<const Lifetime> lifetimes);

// A range of the arena that a command reads or writes.
struct Access {
  std::int64_t begin = 0;  // bytes
  std::int64_t end = 0;
  bool write = false;
};

// Decides before which commands a barrier must stand: those that read what was written, or write
// what was read or written, since the last barrier.
class HazardTracker {
 public:
  // Whether the command with these accesses needs a barrier before it.
  bool add(std::span<const Access> accesses);

 private:
  std::vector<Access> pending_;
};

}  // namespace concord::gpu
