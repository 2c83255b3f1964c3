#include "backends/reference/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/cores.h"

namespace concord::reference {

void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  const std::int64_t useful = std::max<std::int64_t>(1, count / std::max<std::int64_t>(1, grain));
  const std::int64_t threads = std::min<std::int64_t>(available_cores(), useful);
  if (threads == 1) {
    body(0, count);
    return;
  }
  // More pieces than threads: a core that others use too does not hold up the rest.
  const std::int64_t pieces = std::min(useful, threads * 4);
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    while (true) {
      const std::int64_t piece = next.fetch_add(1);
      if (piece >= pieces) return;
      try {
        body(count * piece / pieces, count * (piece + 1) / pieces);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = pieces;
      }
    }
  };
  std::vector<std::thread> helpers;
  for (std::int64_t t = 1; t < threads; ++t) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace concord::reference
