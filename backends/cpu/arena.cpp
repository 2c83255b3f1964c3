#include "backends/cpu/arena.h"

#include <algorithm>
#include <utility>

namespace concord::cpu {
namespace {

constexpr std::int64_t kAlign = 64;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

// Free ranges of the arena, sorted by offset; the last is open-ended.
class FreeList {
 public:
  // The tightest range that fits.
  std::int64_t take(std::int64_t bytes) {
    std::size_t best = ranges_.size();
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      if (ranges_[i].size >= bytes &&
          (best == ranges_.size() || ranges_[i].size < ranges_[best].size))
        best = i;
    }
    if (best == ranges_.size()) {
      // Grow: from the last free range if it touches the end.
      std::int64_t at = end_;
      if (!ranges_.empty() && ranges_.back().offset + ranges_.back().size == end_) {
        at = ranges_.back().offset;
        ranges_.pop_back();
      }
      end_ = at + bytes;
      return at;
    }
    const std::int64_t at = ranges_[best].offset;
    ranges_[best].offset += bytes;
    ranges_[best].size -= bytes;
    if (ranges_[best].size == 0) ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(best));
    return at;
  }

  void give(std::int64_t offset, std::int64_t bytes) {
    auto next = std::lower_bound(ranges_.begin(), ranges_.end(), offset,
                                 [](const Range& r, std::int64_t o) { return r.offset < o; });
    if (next != ranges_.end() && offset + bytes == next->offset) {
      next->offset = offset;
      next->size += bytes;
    } else {
      next = ranges_.insert(next, {offset, bytes});
    }
    if (next != ranges_.begin()) {
      auto before = std::prev(next);
      if (before->offset + before->size == next->offset) {
        before->size += next->size;
        ranges_.erase(next);
      }
    }
  }

  std::int64_t end() const { return end_; }

 private:
  struct Range {
    std::int64_t offset, size;
  };
  std::vector<Range> ranges_;
  std::int64_t end_ = 0;
};

}  // namespace

std::int64_t assign_offsets(std::span<Lifetime> pieces) {
  FreeList free;
  std::vector<const Lifetime*> live;  // a heap, the earliest end on top
  const auto later = [](const Lifetime* a, const Lifetime* b) { return a->last > b->last; };
  for (Lifetime& piece : pieces) {
    while (!live.empty() && live.front()->last < piece.first) {
      free.give(live.front()->offset, aligned(live.front()->bytes));
      std::pop_heap(live.begin(), live.end(), later);
      live.pop_back();
    }
    if (piece.bytes == 0) continue;
    piece.offset = free.take(aligned(piece.bytes));
    live.push_back(&piece);
    std::push_heap(live.begin(), live.end(), later);
  }
  return free.end();
}

ArenaPool::Lease ArenaPool::take(std::size_t bytes) {
  AlignedBuffer buffer;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const auto largest =
          std::max_element(free_.begin(), free_.end(),
                           [](const auto& a, const auto& b) { return a.size() < b.size(); });
      std::swap(*largest, free_.back());
      buffer = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (buffer.size() < bytes) {
    // Some room to grow, so that a sequence that gets longer step by step seldom comes here.
    const std::size_t wanted = buffer.size() == 0 ? bytes : bytes + bytes / 4;
    buffer = AlignedBuffer();
    buffer = AlignedBuffer(wanted);
  }
  return {*this, std::move(buffer)};
}

void ArenaPool::give_back(AlignedBuffer buffer) {
  if (buffer.size() == 0) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(buffer));
}

// --- outputs

namespace {
constexpr std::size_t kSmallest = 16 << 10;  // below, the heap is as good
constexpr std::size_t kMostBuffers = 256;    // kept for reuse
constexpr std::size_t kMostBytes = 256u << 20;
}  // namespace

class PooledStorage : public Storage {
 public:
  PooledStorage(std::shared_ptr<OutputPool> pool, AlignedBuffer buffer)
      : pool_(std::move(pool)), buffer_(std::move(buffer)) {}
  ~PooledStorage() override { pool_->give_back(std::move(buffer_)); }
  PooledStorage(const PooledStorage&) = delete;
  PooledStorage& operator=(const PooledStorage&) = delete;
  std::byte* data() override { return buffer_.data(); }
  std::size_t size() const override { return buffer_.size(); }

 private:
  std::shared_ptr<OutputPool> pool_;
  AlignedBuffer buffer_;
};

Tensor OutputPool::allocate(DataType dtype, Shape shape) {
  const auto bytes = static_cast<std::size_t>(storage_bytes(dtype, element_count(shape)));
  if (bytes < kSmallest) return {dtype, std::move(shape)};
  AlignedBuffer buffer;
  {
    const std::lock_guard lock(mutex_);
    auto best = free_.end();
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      if (at->size() < bytes || at->size() > 2 * bytes) continue;
      if (best == free_.end() || at->size() < best->size()) best = at;
    }
    if (best != free_.end()) {
      free_bytes_ -= best->size();
      buffer = std::move(*best);
      free_.erase(best);
    }
  }
  if (buffer.size() == 0) {
    // Rounded up by up to an eighth, so that an output that grows step by step fits again.
    const std::size_t step = std::max<std::size_t>(4096, bytes / 8 / 4096 * 4096);
    buffer = AlignedBuffer((bytes + step - 1) / step * step);
  }
  return {dtype, std::move(shape),
          std::make_shared<PooledStorage>(shared_from_this(), std::move(buffer)), 0};
}

void OutputPool::give_back(AlignedBuffer buffer) {
  std::vector<AlignedBuffer> dropped;  // freed after the lock
  const std::lock_guard lock(mutex_);
  free_bytes_ += buffer.size();
  free_.push_back(std::move(buffer));
  std::size_t excess = 0;  // the oldest go first: sizes that are no longer asked for
  while (free_.size() - excess > kMostBuffers || free_bytes_ > kMostBytes) {
    free_bytes_ -= free_[excess].size();
    dropped.push_back(std::move(free_[excess++]));
  }
  free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(excess));
}

}  // namespace concord::cpu
