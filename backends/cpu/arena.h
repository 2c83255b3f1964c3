#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/cpu/kernels/memory.h"
#include "graph/tensor.h"

namespace concord::cpu {

// A piece of memory that is needed from action `first` to action `last`, both included.
struct Lifetime {
  std::int64_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int64_t offset = 0;  // found by assign_offsets
};

// Lays the pieces out so that no two that live at once overlap; offsets are multiples of 64. The
// pieces must be sorted by `first`. Returns the size of the whole.
std::int64_t assign_offsets(std::span<Lifetime> pieces);

// Arenas of a program's runs, kept between runs and grown when a plan needs more. As many as there
// are runs at once.
class ArenaPool {
 public:
  class Lease {
   public:
    Lease(ArenaPool& pool, AlignedBuffer buffer) : pool_(pool), buffer_(std::move(buffer)) {}
    ~Lease() { pool_.give_back(std::move(buffer_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    std::byte* data() { return buffer_.data(); }

   private:
    ArenaPool& pool_;
    AlignedBuffer buffer_;
  };

  Lease take(std::size_t bytes);

 private:
  void give_back(AlignedBuffer buffer);

  std::mutex mutex_;
  std::vector<AlignedBuffer> free_;
};

// Memory of graph outputs. It comes back here when the last tensor that shares it goes, so that a
// decoder's growing cache does not fetch fresh pages from the system with every token. Bounded.
class OutputPool : public std::enable_shared_from_this<OutputPool> {
 public:
  Tensor allocate(DataType dtype, Shape shape);

 private:
  friend class PooledStorage;
  void give_back(AlignedBuffer buffer);

  std::mutex mutex_;
  std::vector<AlignedBuffer> free_;
  std::size_t free_bytes_ = 0;
};

}  // namespace concord::cpu
