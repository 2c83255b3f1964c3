#include "backends/gpu/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace concord::gpu {
namespace {

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

struct Placed {
  std::int64_t begin;
  std::int64_t end;
  std::size_t lifetime;
};

}  // namespace

MemoryLayout lay_out(std::span<const Lifetime> lifetimes) {
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t i) { return lifetimes[i].bytes; });
  MemoryLayout layout;
  layout.offsets.assign(lifetimes.size(), 0);
  std::vector<Placed> placed;  // by begin
  placed.reserve(lifetimes.size());
  for (const std::size_t i : order) {
    const Lifetime& life = lifetimes[i];
    const std::int64_t bytes = std::max(aligned(life.bytes), kArenaAlignment);
    std::int64_t begin = 0;
    for (const Placed& other : placed) {
      const Lifetime& theirs = lifetimes[other.lifetime];
      if (theirs.last < life.first || theirs.first > life.last) continue;
      if (other.begin >= begin + bytes) break;
      begin = std::max(begin, other.end);
    }
    layout.offsets[i] = begin;
    layout.bytes = std::max(layout.bytes, begin + bytes);
    const Placed own{begin, begin + bytes, i};
    placed.insert(std::ranges::upper_bound(placed, begin, {}, &Placed::begin), own);
  }
  return layout;
}

MemoryLayout lay_out_apart(std::span<const Lifetime> lifetimes) {
  MemoryLayout layout;
  for (const Lifetime& life : lifetimes) {
    layout.offsets.push_back(layout.bytes);
    layout.bytes += std::max(aligned(life.bytes), kArenaAlignment);
  }
  return layout;
}

bool HazardTracker::add(std::span<const Access> accesses) {
  const bool hazard = std::ranges::any_of(accesses, [&](const Access& now) {
    return std::ranges::any_of(pending_, [&](const Access& before) {
      return (now.write || before.write) && now.begin < before.end && before.begin < now.end;
    });
  });
  if (hazard) pending_.clear();
  pending_.insert(pending_.end(), accesses.begin(), accesses.end());
  return hazard;
}

}  // namespace concord::gpu
