#include "backends/cpu/kernels/worker_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include <sched.h>

#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {
namespace {

// Work that is being shared out; lives on its caller's stack.
struct Job {
  void (*body)(void*, int);
  void* context;
  int tasks;
  std::array<std::atomic<std::uint64_t>, Team::most_tasks / 64> claimed{};
  std::atomic<int> left{0};  // workers that took the job and are done with it

  bool claim(int task) {
    auto& word = claimed[static_cast<std::size_t>(task / 64)];
    const std::uint64_t bit = std::uint64_t{1} << (task % 64);
    return (word.load(std::memory_order_relaxed) & bit) == 0 &&
           (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }
  // The caller's own task first, so that data stay with their thread, then what nobody has begun.
  void work(int first) {
    for (int i = 0; i < tasks; ++i) {
      const int task = (first + i) % tasks;
      if (claim(task)) body(context, task);
    }
  }
};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// How long a worker in a team looks for work: at first without a pause, then giving way to others,
// then it sleeps until there is some.
constexpr auto kEager = std::chrono::microseconds(100);
constexpr auto kPatient = std::chrono::milliseconds(3);

}  // namespace

class Worker {
 public:
  Worker() : thread_([this] { loop(); }) {}
  ~Worker() {
    quit_.store(true, std::memory_order_relaxed);
    wake();
    thread_.join();
  }

  // In a team a worker waits awake; outside it sleeps.
  void set_awake(bool awake) {
    awake_.store(awake, std::memory_order_relaxed);
    if (awake) wake();
  }

  void post(Job* job, int task) {
    task_ = task;
    job_.store(job, std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst)) wake();
  }
  // True if the worker had not taken the job, and now will not.
  bool take_back() { return job_.exchange(nullptr, std::memory_order_acq_rel) != nullptr; }

 private:
  void wake() {
    signal_.fetch_add(1, std::memory_order_seq_cst);
    signal_.notify_one();
  }

  void loop() {
    detail::enter_worker_thread();
    while (!quit_.load(std::memory_order_relaxed)) {
      if (Job* job = wait_for_job()) {
        job->work(task_of_job_);
        job->left.fetch_add(1, std::memory_order_release);
      }
    }
  }

  Job* take() {
    if (job_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    const int task = task_;
    Job* job = job_.exchange(nullptr, std::memory_order_acq_rel);
    task_of_job_ = task;
    return job;
  }

  Job* wait_for_job() {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    for (int round = 1; awake_.load(std::memory_order_relaxed); ++round) {
      if (Job* job = take()) return job;
      relax();
      if (round % 64 != 0) continue;
      const auto waited = Clock::now() - start;
      if (waited > kPatient) break;
      if (waited > kEager) sched_yield();
    }
    // The signal is read before the last look at job_, and post() stores job_ before it looks at
    // asleep_: one of the two sees the other.
    const std::uint32_t seen = signal_.load(std::memory_order_seq_cst);
    asleep_.store(true, std::memory_order_seq_cst);
    Job* job = nullptr;
    if (job_.load(std::memory_order_seq_cst) != nullptr) {
      job = take();
    } else if (!quit_.load(std::memory_order_relaxed)) {
      signal_.wait(seen, std::memory_order_seq_cst);
    }
    asleep_.store(false, std::memory_order_seq_cst);
    return job;
  }

  alignas(64) std::atomic<Job*> job_{nullptr};
  std::atomic<int> task_{0};  // that the posted job should begin with
  int task_of_job_ = 0;
  alignas(64) std::atomic<std::uint32_t> signal_{0};
  std::atomic<bool> asleep_{false};
  std::atomic<bool> awake_{false};
  std::atomic<bool> quit_{false};
  std::thread thread_;  // last: it uses the rest
};

namespace {

class Workers {
 public:
  std::vector<Worker*> take(int count) {
    const std::lock_guard lock(mutex_);
    std::vector<Worker*> taken;
    for (int i = 0; i < count; ++i) {
      if (idle_.empty()) {
        all_.push_back(std::make_unique<Worker>());
        idle_.push_back(all_.back().get());
      }
      taken.push_back(idle_.back());
      idle_.pop_back();
    }
    return taken;
  }
  void give(const std::vector<Worker*>& workers) {
    const std::lock_guard lock(mutex_);
    // In this order, so that the next team gets the same workers for the same tasks.
    idle_.insert(idle_.end(), workers.rbegin(), workers.rend());
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> all_;
  std::vector<Worker*> idle_;
};

Workers& all_workers() {
  static Workers workers;
  return workers;
}

}  // namespace

Team::Team(int workers) : workers_(all_workers().take(workers)) {
  for (Worker* worker : workers_) worker->set_awake(true);
}

Team::~Team() {
  for (Worker* worker : workers_) worker->set_awake(false);
  all_workers().give(workers_);
}

void Team::run(int tasks, void (*body)(void*, int), void* context) {
  Job job{body, context, tasks, {}, {}};
  const int posted = std::min<int>(tasks - 1, static_cast<int>(workers_.size()));
  for (int i = 0; i < posted; ++i) workers_[static_cast<std::size_t>(i)]->post(&job, i + 1);
  job.work(0);
  int taken = posted;
  for (int i = 0; i < posted; ++i) {
    if (workers_[static_cast<std::size_t>(i)]->take_back()) --taken;
  }
  for (int round = 1; job.left.load(std::memory_order_acquire) != taken; ++round) {
    relax();
    // A worker that lost its core in the middle of its task: let it have this one.
    if (round % 4096 == 0) sched_yield();
  }
}

}  // namespace concord::cpu
