#include "importer/interrupt.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

namespace concord::importer {
namespace {

enum State : int { unused, claimed, used };

struct PathSlot {
  std::atomic<int> state{unused};
  std::array<char, PATH_MAX> path;
};

constexpr int kSlots = 256;
constexpr int kNone = -1;
std::array<PathSlot, kSlots> paths;
std::array<std::atomic<pid_t>, kSlots> children;
std::atomic<pid_t> owner{0};  // a fork has the handler too, until it becomes another program

void clean_up(int number) {
  const int saved = errno;
  if (getpid() == owner.load()) {
    for (const std::atomic<pid_t>& child : children) {
      const pid_t pid = child.load();
      if (pid > 0 && kill(pid, SIGKILL) == 0) waitpid(pid, nullptr, 0);
    }
    for (const PathSlot& slot : paths) {
      if (slot.state.load() == used) unlink(slot.path.data());
    }
    for (const PathSlot& slot : paths) {
      if (slot.state.load() == used) rmdir(slot.path.data());
    }
  }
  errno = saved;
  raise(number);  // the handler is gone: the default action comes when it returns
}

}  // namespace

RemovedOnSignal::RemovedOnSignal(const std::filesystem::path& path) : slot_(kNone) {
  std::error_code ignored;
  const std::string text = std::filesystem::absolute(path, ignored).string();
  if (text.size() >= PATH_MAX) return;
  for (int i = 0; i < kSlots; ++i) {
    PathSlot& slot = paths[static_cast<std::size_t>(i)];
    int expected = unused;
    if (!slot.state.compare_exchange_strong(expected, claimed)) continue;
    std::memcpy(slot.path.data(), text.c_str(), text.size() + 1);
    slot.state.store(used);
    slot_ = i;
    return;
  }
}

RemovedOnSignal::~RemovedOnSignal() {
  if (slot_ != kNone) paths[static_cast<std::size_t>(slot_)].state.store(unused);
}

KilledOnSignal::KilledOnSignal(pid_t child) : slot_(kNone) {
  for (int i = 0; i < kSlots; ++i) {
    pid_t expected = 0;
    if (!children[static_cast<std::size_t>(i)].compare_exchange_strong(expected, child)) continue;
    slot_ = i;
    return;
  }
}

KilledOnSignal::~KilledOnSignal() {
  if (slot_ != kNone) children[static_cast<std::size_t>(slot_)].store(0);
}

void clean_up_on_signals() {
  owner.store(getpid());
  for (const int number : {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU}) {
    struct sigaction before {};
    if (sigaction(number, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = clean_up;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigfillset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

}  // namespace concord::importer
