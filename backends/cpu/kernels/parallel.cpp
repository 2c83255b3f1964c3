#include "backends/cpu/kernels/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "backends/cores.h"
#include "backends/cpu/kernels/worker_pool.h"

#ifdef _OPENMP
#include <omp.h>
#else
// oneDNN brings libgomp even where our own loops run serially.
extern "C" void omp_set_num_threads(int) __attribute__((weak));
#endif

namespace concord::cpu {
namespace {

// Of the innermost scope on this thread; 0 outside of any. Threads is 1 inside a region.
thread_local int t_scope_threads = 0;
thread_local int t_threads = 1;
thread_local Team* t_team = nullptr;  // null: OpenMP's

class Budget {
 public:
  // Waits until a thread is free, then takes all that are wanted if they are free, else one: a
  // team of changing size would make OpenMP start threads anew.
  int take(int wanted) {
    std::unique_lock lock(mutex_);
    const int all = available_threads();
    wanted = std::clamp(wanted, 1, all);
    freed_.wait(lock, [&] { return taken_ < all; });
    const int got = taken_ + wanted <= all ? wanted : 1;
    taken_ += got;
    return got;
  }
  void give(int threads) {
    {
      const std::lock_guard lock(mutex_);
      taken_ -= threads;
    }
    freed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  int taken_ = 0;
};

Budget& budget() {
  static Budget instance;
  return instance;
}

void set_openmp_threads(int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#else
  if (omp_set_num_threads != nullptr) omp_set_num_threads(threads);
#endif
}

}  // namespace

int available_threads() {
  return available_cores();
}

ThreadScope::ThreadScope(int threads, Workers workers)
    : outer_scope_(t_scope_threads), outer_threads_(t_threads), taken_(0) {
  if (outer_scope_ > 0) {
    threads_ = std::clamp(threads, 1, t_threads);
  } else {
#ifndef _OPENMP
    if (workers == Workers::openmp) threads = 1;
#endif
    taken_ = budget().take(std::min(threads, Team::most_tasks));
    threads_ = taken_;
    if (workers == Workers::own && threads_ > 1) {
      team_ = std::make_unique<Team>(threads_ - 1);
      t_team = team_.get();
    }
    set_openmp_threads(workers == Workers::openmp ? threads_ : 1);
  }
  t_scope_threads = threads_;
  t_threads = threads_;
}

ThreadScope::~ThreadScope() {
  t_scope_threads = outer_scope_;
  t_threads = outer_threads_;
  if (taken_ == 0) return;
  t_team = nullptr;
  team_.reset();
  budget().give(taken_);
}

int current_threads() {
  return t_threads;
}

namespace detail {

void enter_worker_thread() {
  t_scope_threads = 1;
}

void run_tasks(int tasks, void (*body)(void*, int), void* context) {
  const int threads = t_threads;
  t_threads = 1;
  if (threads > 1 && tasks > 1 && t_team != nullptr) {
    t_team->run(tasks, body, context);
    t_threads = threads;
    return;
  }
#ifdef _OPENMP
  if (threads > 1 && tasks > 1) {
    // The whole team each time, though there may be fewer tasks: see Budget::take.
#pragma omp parallel num_threads(threads)
    {
      if (omp_get_thread_num() != 0) enter_worker_thread();
      for (int task = omp_get_thread_num(); task < tasks; task += omp_get_num_threads()) {
        body(context, task);
      }
    }
    t_threads = threads;
    return;
  }
#endif
  for (int task = 0; task < tasks; ++task) body(context, task);
  t_threads = threads;
}

void run_dynamic(std::int64_t count, void (*body)(void*, std::int64_t), void* context) {
  std::atomic<std::int64_t> next{0};
  parallel_tasks(t_threads, [&](int) {
    for (std::int64_t item; (item = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      body(context, item);
    }
  });
}

}  // namespace detail
}  // namespace concord::cpu
