#include "backends/gpu/arena_pool.h"

#include <algorithm>

namespace concord::gpu {
namespace {

bool fits(const std::unique_ptr<Memory>& memory, std::size_t bytes) {
  return bytes == 0 || (memory != nullptr && memory->size() >= bytes);
}

// Half more than asked when it isn't the first: extents that grow by one make few arenas.
std::size_t grown(const std::unique_ptr<Memory>& memory, std::size_t bytes) {
  return memory == nullptr ? bytes : std::max(bytes, memory->size() + memory->size() / 2);
}

}  // namespace

ArenaPool::Lease ArenaPool::acquire(const ArenaNeeds& needs) {
  std::unique_ptr<Arena> arena;
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return !idle_.empty() || lent_ < kMaxArenas; });
    const auto fitting = std::ranges::find_if(
        idle_, [&](const std::unique_ptr<Arena>& one) { return fits(one->memory, needs.bytes); });
    if (fitting != idle_.end()) {
      arena = std::move(*fitting);
      idle_.erase(fitting);
    } else if (!idle_.empty()) {
      arena = std::move(idle_.back());
      idle_.pop_back();
    } else {
      arena = std::make_unique<Arena>();
    }
    ++lent_;
  }
  Lease lease(*this, std::move(arena));
  fit(*lease, needs);
  return lease;
}

void ArenaPool::fit(Arena& arena, const ArenaNeeds& needs) {
  const bool enough = fits(arena.memory, needs.bytes) && fits(arena.upload, needs.upload_bytes) &&
                      fits(arena.download, needs.download_bytes);
  if (enough && arena.id != 0) return;
  {
    const std::scoped_lock lock(mutex_);
    arena.id = next_id_++;
  }
  const auto enlarge = [&](std::unique_ptr<Memory>& memory, std::size_t bytes, MemoryKind kind) {
    if (fits(memory, bytes)) return;
    const std::size_t wanted = grown(memory, bytes);
    memory.reset();
    memory = device_->allocate(wanted, kind);
  };
  enlarge(arena.memory, needs.bytes, MemoryKind::kDevice);
  enlarge(arena.upload, needs.upload_bytes, MemoryKind::kUpload);
  enlarge(arena.download, needs.download_bytes, MemoryKind::kDownload);
}

void ArenaPool::give_back(std::unique_ptr<Arena> arena) {
  {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(arena));
    --lent_;
  }
  returned_.notify_one();
}

}  // namespace concord::gpu
