// A signal ends the program as it would have, and leaves nothing behind.
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tools/program.h"

namespace concord::tests {
namespace {

// Starts `concord parity` on a model with its temporary files in `folder`.
pid_t start(const std::filesystem::path& folder) {
  const std::string program = CONCORD_BINARY_DIR "/concord";
  const std::string model = bundled("bert__dynamo20");
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setenv("TMPDIR", folder.c_str(), 1);
  std::freopen("/dev/null", "w", stdout);
  execl(program.c_str(), program.c_str(), "parity", model.c_str(), "--backends", "reference",
        "--seconds", "60", static_cast<char*>(nullptr));
  _exit(127);
}

// Whether the worker has written its outputs.
bool is_running(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_regular_file(ignored)) return true;
  }
  return false;
}

class Signals : public testing::TestWithParam<int> {};

TEST_P(Signals, LeaveNothingBehind) {
  const TemporaryFolder folder;
  const pid_t pid = start(folder.path());
  ASSERT_GT(pid, 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!is_running(folder.path()) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(is_running(folder.path())) << "it has written nothing";
  kill(pid, GetParam());
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), GetParam());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ADD_FAILURE() << "left behind: " << entry.path();
  }
}

INSTANTIATE_TEST_SUITE_P(Ends, Signals, testing::Values(SIGINT, SIGTERM, SIGHUP));

}  // namespace
}  // namespace concord::tests
