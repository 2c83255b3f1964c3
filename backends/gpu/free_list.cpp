#include "backends/gpu/free_list.h"

#include <algorithm>
#include <iterator>

namespace concord::gpu {

FreeList::FreeList(std::size_t bytes, std::size_t alignment)
    : alignment_(alignment), free_{{0, bytes}} {}

std::optional<std::size_t> FreeList::allocate(std::size_t bytes) {
  const std::size_t wanted =
      std::max(alignment_, (bytes + alignment_ - 1) / alignment_ * alignment_);
  for (auto at = free_.begin(); at != free_.end(); ++at) {
    const auto [offset, size] = *at;
    if (size < wanted) continue;
    free_.erase(at);
    if (size > wanted) free_.emplace(offset + wanted, size - wanted);
    used_.emplace(offset, wanted);
    return offset;
  }
  return std::nullopt;
}

void FreeList::free(std::size_t offset) {
  const auto used = used_.find(offset);
  if (used == used_.end()) return;
  auto at = free_.emplace(offset, used->second).first;
  used_.erase(used);
  const auto next = std::next(at);
  if (next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at == free_.begin()) return;
  const auto before = std::prev(at);
  if (before->first + before->second != at->first) return;
  before->second += at->second;
  free_.erase(at);
}

std::size_t FreeList::largest_free() const {
  std::size_t largest = 0;
  for (const auto& [offset, size] : free_) largest = std::max(largest, size);
  return largest;
}

}  // namespace concord::gpu
