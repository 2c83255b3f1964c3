// Threads for kernels. Kernels split their outputs, never a sum, over threads: results are
// bit-identical for every thread count.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace concord::cpu {

class Team;

// Cores that this process may keep busy: the smaller of the affinity mask and the cgroup's CPU
// quota (rounded up), at least 1. Read once.
int available_threads();

// Which threads a scope uses. Our own workers hand over quicker and do not hold each other up on a
// busy machine. A run that also calls oneDNN, which brings OpenMP, uses OpenMP's threads for
// everything: two kinds of threads that wait awake would fight for the cores.
enum class Workers { own, openmp };

// Sets how many threads the kernels called on this thread use, until it goes out of scope: one for
// a run. The threads are taken from a process-wide budget of available_threads(): the scope waits
// until one is free, and gets as many as it wants if they are free, else that one. Scopes nest; an
// inner scope cannot get more threads than the outer one has, nor another kind. OpenMP's count for
// this thread is set too, so that oneDNN obeys: to one if the workers are our own.
class ThreadScope {
 public:
  explicit ThreadScope(int threads, Workers workers = Workers::own);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

  int threads() const { return threads_; }

 private:
  int threads_;
  int outer_scope_;
  int outer_threads_;
  int taken_;
  std::unique_ptr<Team> team_;
};

// What a kernel called here would use: 1 without a scope and inside a parallel region.
int current_threads();

namespace detail {
// On a thread that works for others: a scope made there gets one thread, and waits for nothing.
void enter_worker_thread();
void run_tasks(int tasks, void (*body)(void*, int), void* context);
void run_dynamic(std::int64_t count, void (*body)(void*, std::int64_t), void* context);
}  // namespace detail

// Calls body(task) for task in [0, tasks), each on a thread of its own where there are enough.
// tasks must not exceed current_threads(). An exception in a body ends the process.
template <typename Body>
void parallel_tasks(int tasks, Body&& body) {
  if (tasks <= 1) {
    if (tasks == 1) body(0);
    return;
  }
  using Function = std::remove_reference_t<Body>;
  detail::run_tasks(
      tasks, [](void* context, int task) { (*static_cast<Function*>(context))(task); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

// Number of contiguous pieces into which parallel_for would cut [0, count).
inline int parallel_pieces(std::int64_t count, std::int64_t grain) {
  if (count <= 0) return 0;
  const std::int64_t most = grain > 1 ? count / grain : count;
  const std::int64_t threads = current_threads();
  return static_cast<int>(most < 1 ? 1 : (most < threads ? most : threads));
}

// Calls body(begin, end) on contiguous pieces of [0, count), at most one per thread and none
// shorter than grain (unless count is): work of less than about 5 µs should not be split, so a
// grain is 5 µs over the time of one item.
template <typename Body>
void parallel_for(std::int64_t count, std::int64_t grain, Body&& body) {
  const int pieces = parallel_pieces(count, grain);
  if (pieces <= 1) {
    if (count > 0) body(std::int64_t{0}, count);
    return;
  }
  const std::int64_t base = count / pieces;
  const std::int64_t extra = count % pieces;
  parallel_tasks(pieces, [&](int task) {
    const std::int64_t begin = task * base + (task < extra ? task : extra);
    body(begin, begin + base + (task < extra ? 1 : 0));
  });
}

// Calls body(item) for each item of [0, count), handed out one by one: for items of unequal cost.
// Serial when cost, a rough number of nanoseconds for all, is small.
template <typename Body>
void parallel_dynamic(std::int64_t count, double cost, Body&& body) {
  if (count <= 1 || cost < 1e4 || current_threads() == 1) {
    for (std::int64_t item = 0; item < count; ++item) body(item);
    return;
  }
  using Function = std::remove_reference_t<Body>;
  detail::run_dynamic(
      count, [](void* context, std::int64_t item) { (*static_cast<Function*>(context))(item); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace concord::cpu
