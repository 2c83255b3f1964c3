#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/gpu/device.h"

namespace concord::gpu {

// Memory that one run works in.
struct Arena {
  std::uint64_t id = 0;  // never used twice: recorded commands hold an arena's addresses
  std::unique_ptr<Memory> memory;
  std::unique_ptr<Memory> upload;    // null where the host sees `memory`
  std::unique_ptr<Memory> download;  // likewise
};

struct ArenaNeeds {
  std::size_t bytes = 0;
  std::size_t upload_bytes = 0;
  std::size_t download_bytes = 0;
};

// Arenas shared by all plans of a program: a plan that needs more makes one grow. A device works on
// one run at a time; a second arena lets the host convert inputs and outputs meanwhile, and further
// runs wait.
class ArenaPool {
 public:
  explicit ArenaPool(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  // Lends an arena until the lease ends.
  class Lease {
   public:
    Lease(ArenaPool& pool, std::unique_ptr<Arena> arena) : pool_(&pool), arena_(std::move(arena)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (arena_ != nullptr) pool_->give_back(std::move(arena_));
    }
    Arena* operator->() const { return arena_.get(); }
    Arena& operator*() const { return *arena_; }

   private:
    ArenaPool* pool_;
    std::unique_ptr<Arena> arena_;
  };
  Lease acquire(const ArenaNeeds& needs);

 private:
  void give_back(std::unique_ptr<Arena> arena);
  void fit(Arena& arena, const ArenaNeeds& needs);

  static constexpr std::size_t kMaxArenas = 2;
  std::shared_ptr<Device> device_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Arena>> idle_;
  std::size_t lent_ = 0;
  std::uint64_t next_id_ = 1;
};

}  // namespace concord::gpu
