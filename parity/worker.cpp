#include "parity/worker.h"

#include <chrono>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/error.h"
#include "parity/spool.h"
#include "parity/worker_json.h"

namespace concord::parity {
namespace {

using nlohmann::json;

// The `concord` program: this one, or the one that belongs to the library (for tests and programs
// that use the library).
std::filesystem::path program() {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
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

}  // namespace

struct Worker::State {
  WorkerJob job;
  WorkerReady ready;
  bool started = false;
  pid_t pid = -1;
  int to = -1;
  int from = -1;
  std::string buffer;
  std::filesystem::path spool;

  void spawn();
  void send(const json& command);
  json receive();
  json ask(const json& command) {
    send(command);
    return receive();
  }
  [[noreturn]] void died();
  void stop();
};

void Worker::State::spawn() {
  std::string folder = (std::filesystem::temp_directory_path() / "concord-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    throw Error(ErrorKind::failed,
                "cannot make a folder for spooled tensors in " +
                    std::filesystem::temp_directory_path().string(),
                "free some space, or set TMPDIR to a folder that can be written");
  }
  spool = folder;
  const std::string path = program().string();
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
    throw Error(ErrorKind::failed, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const pid_t parent = getpid();
  pid = fork();
  if (pid < 0) {
    throw Error(ErrorKind::failed, std::string("cannot start a worker: ") + std::strerror(errno));
  }
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execl(path.c_str(), path.c_str(), "worker", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to = in[1];
  from = out[0];
  send({{"command", "start"}, {"job", to_json(job)}, {"spool", spool.string()}});
}

void Worker::State::send(const json& command) {
  const std::string text = command.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  // A worker that is gone answers with a signal otherwise.
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(to, text.data() + done, text.size() - done);
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  sigaction(SIGPIPE, &before, nullptr);
  if (done < text.size()) died();
}

json Worker::State::receive() {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(job.timeout_s);
  while (true) {
    if (const std::size_t end = buffer.find('\n'); end != std::string::npos) {
      const json answer = json::parse(buffer.substr(0, end));
      buffer.erase(0, end + 1);
      if (answer.contains("error")) throw_from_json(answer);
      return answer;
    }
    const double left =
        std::chrono::duration<double, std::milli>(deadline - std::chrono::steady_clock::now())
            .count();
    pollfd wait{from, POLLIN, 0};
    const int ready_count = left > 0 ? poll(&wait, 1, static_cast<int>(std::min(left, 1e9))) : 0;
    if (ready_count < 0 && errno == EINTR) continue;
    if (ready_count <= 0) {
      stop();
      throw Error(
          ErrorKind::failed,
          job.spec + ": no answer in " + std::to_string(static_cast<int>(job.timeout_s)) + " s",
          "the device or its driver may hang; try a smaller input");
    }
    char chunk[65536];
    const ssize_t n = read(from, chunk, sizeof chunk);
    if (n <= 0) died();
    buffer.append(chunk, static_cast<std::size_t>(n));
  }
}

void Worker::State::died() {
  int status = 0;
  const bool known = pid > 0 && waitpid(pid, &status, 0) == pid;
  pid = -1;
  throw Error(ErrorKind::failed,
              job.spec + ": the worker " + (known ? signal_text(status) : "has gone"),
              "run `concord run` on this backend to see what its driver says");
}

void Worker::State::stop() {
  if (to >= 0) close(to);
  if (from >= 0) close(from);
  to = from = -1;
  if (pid > 0) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    pid = -1;
  }
  std::error_code ignored;
  if (!spool.empty()) std::filesystem::remove_all(spool, ignored);
  spool.clear();
}

Worker::Worker(const WorkerJob& job) : state_(std::make_unique<State>()) {
  state_->job = job;
  state_->spawn();
}

Worker::~Worker() {
  if (state_) state_->stop();
}

Worker::Worker(Worker&&) noexcept = default;

const WorkerReady& Worker::ready() {
  if (!state_->started) {
    state_->ready = ready_from_json(state_->receive());
    state_->started = true;
  }
  return state_->ready;
}

WorkerRun Worker::run(const std::vector<Tensor>& inputs, bool taps) {
  ready();
  json list = json::array();
  SpoolWriter writer(state_->spool / kInputsFile);
  for (const Tensor& input : inputs) list.push_back(writer.add(input));
  writer.close();
  const json answer =
      state_->ask({{"command", "run"}, {"inputs", std::move(list)}, {"taps", taps}});
  WorkerRun result;
  result.plan_ms = answer.at("plan_ms").get<double>();
  result.run_ms = answer.at("run_ms").get<double>();
  const SpoolReader outputs(state_->spool / kOutputsFile);
  for (const json& item : answer.at("outputs")) result.outputs.push_back(outputs.get(item));
  if (taps) {
    const SpoolReader reader(state_->spool / kTapsFile);
    for (const json& item : answer.at("taps")) {
      result.taps[{item.at("path").get<BodyPath>(), item.at("value").get<int>()}] =
          reader.get(item);
    }
    std::filesystem::remove(state_->spool / kTapsFile);
  }
  std::filesystem::remove(state_->spool / kOutputsFile);
  return result;
}

std::vector<double> Worker::burst(double seconds, int least, double warmup_s) {
  ready();
  const json answer = state_->ask(
      {{"command", "burst"}, {"seconds", seconds}, {"least", least}, {"warmup", warmup_s}});
  return answer.at("times").get<std::vector<double>>();
}

std::vector<WorkerStep> Worker::steps(double seconds) {
  ready();
  std::vector<WorkerStep> result;
  const json answer = state_->ask({{"command", "steps"}, {"seconds", seconds}});
  for (const json& item : answer.at("steps")) result.push_back(step_from_json(item));
  return result;
}

WorkerMemory Worker::memory() {
  ready();
  return memory_from_json(state_->ask({{"command", "memory"}}));
}

std::string Worker::describe() {
  ready();
  return state_->ask({{"command", "describe"}}).at("text").get<std::string>();
}

}  // namespace concord::parity
