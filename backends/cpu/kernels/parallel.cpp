#include "backends/cpu/kernels/parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>

#include <sched.h>

#ifdef _OPENMP
#include <omp.h>
#else
// oneDNN brings libgomp even where our own loops run serially.
extern "C" void omp_set_num_threads(int) __attribute__((weak));
#endif

namespace concord::cpu {
namespace {

thread_local int t_threads = 1;

std::optional<double> quota_of(const std::string& folder) {
  // Version 2: "max 100000" or "150000 100000".
  if (std::ifstream file(folder + "/cpu.max"); file) {
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0) return std::stod(quota) / period;
    return std::nullopt;
  }
  double quota = 0;
  double period = 0;
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0)
    return quota / period;
  return std::nullopt;
}

// The least quota of this process' control group and those above it.
double cgroup_cores() {
  double least = 1e9;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    std::istringstream fields(line);
    std::string hierarchy;
    std::string controllers;
    std::string path;
    std::getline(fields, hierarchy, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    std::string root = "/sys/fs/cgroup";
    if (hierarchy != "0") {
      if ((',' + controllers + ',').find(",cpu,") == std::string::npos) continue;
      root += "/" + controllers;
    }
    while (true) {
      if (const auto quota = quota_of(root + path)) least = std::min(least, *quota);
      const auto slash = path.rfind('/');
      if (slash == std::string::npos) break;
      path.resize(slash);
    }
  }
  return least;
}

int affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

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

thread_local bool t_in_scope = false;

void set_openmp_threads(int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#else
  if (omp_set_num_threads != nullptr) omp_set_num_threads(threads);
#endif
}

}  // namespace

int available_threads() {
  static const int threads = [] {
    const double quota = std::ceil(cgroup_cores());
    return std::max(1, std::min(affinity_cores(), static_cast<int>(std::min(quota, 1e6))));
  }();
  return threads;
}

ThreadScope::ThreadScope(int threads) : outer_(t_in_scope ? t_threads : 0) {
  if (outer_ > 0) {
    taken_ = 0;
    threads_ = std::clamp(threads, 1, outer_);
  } else {
    taken_ = budget().take(threads);
    threads_ = taken_;
  }
#ifndef _OPENMP
  threads_ = 1;
#endif
  t_in_scope = true;
  t_threads = threads_;
  set_openmp_threads(threads_);
}

ThreadScope::~ThreadScope() {
  t_threads = std::max(outer_, 1);
  t_in_scope = outer_ > 0;
  if (outer_ > 0) set_openmp_threads(outer_);
  if (taken_ > 0) budget().give(taken_);
}

int current_threads() {
  return t_threads;
}

namespace detail {

void run_tasks(int tasks, void (*body)(void*, int), void* context) {
  const int team = t_threads;
  t_threads = 1;
#ifdef _OPENMP
  if (team > 1 && tasks > 1) {
    // The whole team each time, though there may be fewer tasks: see Budget::take.
#pragma omp parallel num_threads(team)
    {
      for (int task = omp_get_thread_num(); task < tasks; task += omp_get_num_threads()) {
        body(context, task);
      }
    }
    t_threads = team;
    return;
  }
#endif
  for (int task = 0; task < tasks; ++task) body(context, task);
  t_threads = team;
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
