#include "parity/worker_process.h"

#include <csignal>
#include <fstream>
#include <set>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/time.h>

#include "graph/error.h"

namespace concord::parity {
namespace {

std::set<int> open_descriptors() {
  std::set<int> numbers;
  for (int number = 0; number < 256; ++number) {
    if (fcntl(number, F_GETFD) >= 0) numbers.insert(number);
  }
  return numbers;
}

// The limit under which so many more can be opened.
rlim_t limit_for(int more) {
  const std::set<int> used = open_descriptors();
  int limit = 0;
  for (; more > 0; ++limit) more -= used.contains(limit) ? 0 : 1;
  return static_cast<rlim_t>(limit);
}

std::string error_of(WorkerProcess& worker, const nlohmann::json& command) {
  try {
    worker.ask(command);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

const nlohmann::json kMemory = {{"command", "memory"}};  // an error of the worker's own: no model

TEST(WorkerProcess, LeavesNoDescriptorOpenWhenItCannotStart) {
  const std::set<int> before = open_descriptors();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  int refused = 0;
  for (int more = 1; more < 5; ++more) {  // one more lets what was made be removed
    rlimit less = limit;
    less.rlim_cur = limit_for(more);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &less), 0);
    try {
      const WorkerProcess worker("cpu", 10);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failed) << error.what();
      ++refused;
    }
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_EQ(open_descriptors(), before) << more;
  }
  EXPECT_GT(refused, 0);
}

void nothing(int) {}

TEST(WorkerProcess, GoesOnAfterSignals) {
  struct sigaction handler {};
  struct sigaction before {};
  handler.sa_handler = nothing;  // without SA_RESTART: calls end with EINTR
  ASSERT_EQ(sigaction(SIGALRM, &handler, &before), 0);
  WorkerProcess worker("cpu", 60);
  nlohmann::json large = kMemory;
  large["text"] = std::string(std::size_t{8} << 20, 'x');  // more than a socket holds
  const itimerval often = {{0, 1000}, {0, 1000}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  const std::string error = error_of(worker, large);
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_NE(error.find("has no model"), std::string::npos) << error;
}

int signals = 0;
void count(int) {
  ++signals;
}

TEST(WorkerProcess, OneThatHasGoneIsAnErrorAndNoSignal) {
  struct sigaction handler {};
  struct sigaction before {};
  handler.sa_handler = count;
  ASSERT_EQ(sigaction(SIGPIPE, &handler, &before), 0);
  WorkerProcess worker("cpu", 60);
  EXPECT_NE(error_of(worker, kMemory).find("has no model"), std::string::npos);
  pid_t child = 0;
  std::ifstream("/proc/thread-self/children") >> child;
  if (child == 0) GTEST_SKIP() << "this kernel does not list a process's children";
  kill(child, SIGKILL);
  EXPECT_NE(error_of(worker, kMemory).find("crashed with signal 9"), std::string::npos);
  EXPECT_NE(error_of(worker, kMemory).find("has gone"), std::string::npos);
  sigaction(SIGPIPE, &before, nullptr);
  EXPECT_EQ(signals, 0);
}

}  // namespace
}  // namespace concord::parity
