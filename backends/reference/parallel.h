#pragma once

#include <cstdint>
#include <functional>

namespace concord::reference {

// Calls body(begin, end) on pieces of [0, count) from several threads; a piece holds at least
// `grain` of them, so that little work stays on the calling thread. Results must not depend on how
// the range is cut. Exceptions are passed on.
void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& body);

// A grain such that a piece does some hundred thousand operations, of which an item takes `cost`.
inline std::int64_t grain_for(double cost) {
  const double items = 2e5 / (cost < 1 ? 1 : cost);
  return items < 1 ? 1 : static_cast<std::int64_t>(items);
}

}  // namespace concord::reference
