// Shared by the parts of attention.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/attention.h"

namespace concord::cpu {

// One thread's share: queries [begin, end) of all query heads that use one key head.
struct AttentionShare {
  const AttentionArgs* args;
  std::int64_t batch, kv_head, begin, end;
};

// Keys [low, high).
struct KeyRange {
  std::int64_t low, high;
};

inline KeyRange visible_keys(const AttentionArgs& a, std::int64_t batch, std::int64_t query) {
  KeyRange range{0, a.kv_len};
  const std::int64_t diagonal = query + a.causal_offset;
  if (a.key_lengths != nullptr) {
    range.high = std::min<std::int64_t>(range.high, a.key_lengths[batch]);
  }
  if (a.causal) range.high = std::min(range.high, diagonal + 1);
  if (a.right_window >= 0) range.high = std::min(range.high, diagonal + a.right_window);
  if (a.window >= 0) range.low = std::max(range.low, diagonal - a.window + 1);
  range.high = std::max<std::int64_t>(range.high, 0);
  range.low = std::min(range.low, range.high);
  return range;
}

}  // namespace concord::cpu
