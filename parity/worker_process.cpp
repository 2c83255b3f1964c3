#include "parity/worker_process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/error.h"
#include "graph/text.h"
#include "parity/worker.h"
#include "parity/worker_json.h"

namespace concord::parity {
namespace {

using nlohmann::json;

// The `concord` program: this one, or the one that belongs to the library (for tests and programs
// that use the library).
std::filesystem::path program() {
  std::error_code ignored;
  auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (self.filename() == "concord") return self;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&worker_main), &info) != 0 && info.dli_fname) {
    const auto folder = std::filesystem::canonical(info.dli_fname, ignored).parent_path();
    for (const auto& candidate : {folder / "concord", folder / ".." / "bin" / "concord"}) {
      if (std::filesystem::exists(candidate)) return candidate;
    }
  }
  throw Error(ErrorKind::failed,
              "the program 'concord', which runs each backend in a process of "
              "its own, is not beside libconcord.so",
              "install Concord again");
}

std::string signal_text(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return "crashed with signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

bool wait_for(pid_t child, int* status) {
  while (true) {
    const pid_t ended = waitpid(child, status, 0);
    if (ended >= 0 || errno != EINTR) return ended == child;
  }
}

}  // namespace

WorkerProcess::WorkerProcess(std::string label, double timeout_s)
    : label_(std::move(label)), timeout_s_(timeout_s) {
  try {
    spawn();
  } catch (...) {
    stop();
    throw;
  }
}

WorkerProcess::~WorkerProcess() {
  stop();
}

json WorkerProcess::ask(const json& command) {
  send(command);
  return receive();
}

void WorkerProcess::spawn() {
  std::error_code failure;
  const std::filesystem::path parent_folder = std::filesystem::temp_directory_path(failure);
  std::string folder = (parent_folder / "concord-XXXXXX").string();
  if (failure || mkdtemp(folder.data()) == nullptr) {
    const char* named = std::getenv("TMPDIR");
    const std::string where = failure && named != nullptr ? named : parent_folder.string();
    throw Error(ErrorKind::failed,
                "cannot make a folder for spooled tensors in '" + printable(where) +
                    "': " + (failure ? failure.message() : std::strerror(errno)),
                "free some space, or set TMPDIR to a folder that can be written");
  }
  spool_ = folder;
  removed_on_signal_.emplace_back(spool_);
  for (const char* file : {kInputsFile, kOutputsFile, kTapsFile}) {
    removed_on_signal_.emplace_back(spool_ / file);
  }
  const std::string path = program().string();
  // A socket and no pipe: writing to a worker that has gone can then be an error without a signal.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(ErrorKind::failed,
                std::string("cannot make a socket to a worker: ") + std::strerror(errno),
                "see how many files a process may have open (ulimit -n)");
  }
  importer::Descriptor mine(ends[0]);
  const importer::Descriptor workers(ends[1]);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) {
    throw Error(ErrorKind::failed, std::string("cannot start a worker: ") + std::strerror(errno));
  }
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    dup2(workers.get(), STDIN_FILENO);
    dup2(workers.get(), STDOUT_FILENO);
    execl(path.c_str(), path.c_str(), "worker", static_cast<char*>(nullptr));
    _exit(127);
  }
  killed_on_signal_.emplace(pid_);
  socket_ = std::move(mine);
}

void WorkerProcess::send(const json& command) {
  const std::string text = command.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::send(socket_.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) died();
    done += static_cast<std::size_t>(n);
  }
}

json WorkerProcess::receive() {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s_);
  while (true) {
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      json answer = json::parse(buffer_.substr(0, end));
      buffer_.erase(0, end + 1);
      if (answer.contains("error")) throw_from_json(answer);
      return answer;
    }
    const double left =
        std::chrono::duration<double, std::milli>(deadline - std::chrono::steady_clock::now())
            .count();
    pollfd wait{socket_.get(), POLLIN, 0};
    const int ready_count = left > 0 ? poll(&wait, 1, static_cast<int>(std::min(left, 1e9))) : 0;
    if (ready_count < 0 && errno == EINTR) continue;
    if (ready_count <= 0) {
      stop();
      throw Error(ErrorKind::failed,
                  label_ + ": no answer in " + std::to_string(static_cast<int>(timeout_s_)) + " s",
                  "the device or its driver may hang; try a smaller input");
    }
    char chunk[65536];
    const ssize_t n = read(socket_.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) died();
    buffer_.append(chunk, static_cast<std::size_t>(n));
  }
}

void WorkerProcess::died() {
  int status = 0;
  const bool known = pid_ > 0 && wait_for(pid_, &status);
  pid_ = -1;
  killed_on_signal_.reset();
  throw Error(ErrorKind::failed,
              label_ + ": the worker " + (known ? signal_text(status) : "has gone"),
              "run `concord run` on this backend to see what its driver says");
}

void WorkerProcess::stop() {
  socket_.reset();
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    killed_on_signal_.reset();  // once it is waited for, its id may be another's
    wait_for(pid_, nullptr);
    pid_ = -1;
  }
  std::error_code ignored;
  if (!spool_.empty()) std::filesystem::remove_all(spool_, ignored);
  spool_.clear();
  removed_on_signal_.clear();
}

}  // namespace concord::parity
