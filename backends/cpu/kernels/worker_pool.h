// The library's own worker threads: a region is handed over in well under a microsecond, and a
// worker that the system has not scheduled holds nobody up, since its task is taken back. (OpenMP's
// barrier waits for every thread of the team, for milliseconds on a machine that others use too.)
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace concord::cpu {

class Worker;

// Some of the process' workers, for one caller at a time. While a team exists its workers wait for
// work awake, for a few milliseconds at most; without one they sleep.
class Team {
 public:
  // Takes idle workers, starting threads where there are none.
  explicit Team(int workers);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // body(context, task) for each task in [0, tasks), task 0 on the caller. tasks <= most_tasks.
  void run(int tasks, void (*body)(void*, int), void* context);

  static constexpr int most_tasks = 256;

 private:
  std::vector<Worker*> workers_;
};

}  // namespace concord::cpu
