#include "backends/reference/parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>

namespace concord::reference {
namespace {

int affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// cgroup v2's "quota period" in microseconds, or v1's two files; 0 without a quota.
int quota() {
  double limit = 0;
  double period = 0;
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  if (!(v2 >> limit >> period)) {
    std::ifstream v1_limit("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    std::ifstream v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    if (!(v1_limit >> limit) || !(v1_period >> period)) return 0;
  }
  if (limit <= 0 || period <= 0) return 0;
  return std::max(1, static_cast<int>(std::ceil(limit / period)));
}

}  // namespace

int thread_limit() {
  static const int limit = [] {
    const int q = quota();
    return q == 0 ? affinity() : std::min(affinity(), q);
  }();
  return limit;
}

void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  const std::int64_t useful = std::max<std::int64_t>(1, count / std::max<std::int64_t>(1, grain));
  const std::int64_t threads = std::min<std::int64_t>(thread_limit(), useful);
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
