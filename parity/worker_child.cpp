#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iostream>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "backends/ranks.h"
#include "backends/registry.h"
#include "backends/session.h"
#include "graph/error.h"
#include "importer/importer.h"
#include "parity/ceilings.h"
#include "parity/conformance.h"
#include "parity/exact.h"
#include "parity/spool.h"
#include "parity/tensor_hash.h"
#include "parity/worker.h"
#include "parity/worker_json.h"

namespace concord::parity {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// VmHWM of this process, in bytes.
std::int64_t high_water_mark() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    std::int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

// Spools what it is offered at once, so that memory stays at the largest tensor.
class SpoolSink final : public TapSink {
 public:
  SpoolSink(SpoolWriter& writer, json& list, BodyPath path)
      : writer_(writer), list_(list), path_(std::move(path)) {}

  bool wants(graph::ValueId) const override { return true; }
  void take(graph::ValueId id, Tensor tensor) override {
    if (!tensor.defined()) return;
    json item = writer_.add(tensor);
    item["path"] = path_;
    item["value"] = id.index;
    list_.push_back(std::move(item));
  }
  TapSink* body(graph::NodeId node, std::size_t which) override {
    BodyPath path = path_;
    path.emplace_back(node.index, static_cast<int>(which));
    bodies_.push_back(std::make_unique<SpoolSink>(writer_, list_, std::move(path)));
    return bodies_.back().get();
  }

 private:
  SpoolWriter& writer_;
  json& list_;
  BodyPath path_;
  std::vector<std::unique_ptr<SpoolSink>> bodies_;
};

// Keeps the hash of what it is offered.
class HashSink final : public TapSink {
 public:
  HashSink(json& list, BodyPath path) : list_(list), path_(std::move(path)) {}

  bool wants(graph::ValueId) const override { return true; }
  void take(graph::ValueId id, Tensor tensor) override {
    if (!tensor.defined()) return;
    list_.push_back({{"path", path_}, {"value", id.index}, {"hash", hash_of(tensor)}});
  }
  TapSink* body(graph::NodeId node, std::size_t which) override {
    BodyPath path = path_;
    path.emplace_back(node.index, static_cast<int>(which));
    bodies_.push_back(std::make_unique<HashSink>(list_, std::move(path)));
    return bodies_.back().get();
  }

 private:
  json& list_;
  BodyPath path_;
  std::vector<std::unique_ptr<HashSink>> bodies_;
};

class Child {
 public:
  json start(const json& command) {
    const WorkerJob job = job_from_json(command.at("job"));
    spool_ = command.at("spool").get<std::string>();
    WorkerReady ready;
    const auto t0 = Clock::now();
    importer::ImportOptions import;
    import.external_root = job.external_root;
    importer::Imported model = importer::load(job.model, import);
    if (job.exact) model.graph = with_integer_weights(model.graph);
    model.graph = with_ranks(std::move(model.graph), job.ranks);
    const auto t1 = Clock::now();
    SessionOptions options;
    options.allow_fallback = job.allow_fallback;
    options.disabled_passes = job.disabled_passes;
    options.log = [](const std::string&) {};  // the parent tells of fallbacks
    session_ = std::make_unique<Session>(model.graph, parse_spec(job.spec), options);
    const auto t2 = Clock::now();
    ready.load_ms = milliseconds(t0, t1);
    ready.compile_ms = milliseconds(t1, t2);
    ready.backend = session_->backend().name();
    ready.device = session_->backend().device();
    ready.version = session_->backend().version();
    for (const Fallback& f : session_->fallbacks()) {
      ready.fallbacks.push_back({f.node.index, f.name, f.op, f.reason, f.by_nature});
    }
    return to_json(ready);
  }

  json run(const json& command) {
    const SpoolReader reader(spool_ / kInputsFile);
    inputs_.clear();
    for (const json& item : command.at("inputs")) inputs_.push_back(reader.get(item).clone());
    WorkerRun result;
    const auto t0 = Clock::now();
    session_->prepare(bindings_of(session_->imported(), inputs_));
    const auto t1 = Clock::now();
    RunOptions options;
    json answer;
    std::vector<Tensor> outputs;
    if (command.at("taps").get<bool>()) {
      SpoolWriter writer(spool_ / kTapsFile);
      json list = json::array();
      SpoolSink sink(writer, list, {});
      options.taps = &sink;
      outputs = session_->run(inputs_, options);
      writer.close();
      answer["taps"] = std::move(list);
    } else {
      outputs = session_->run(inputs_, options);
    }
    const auto t2 = Clock::now();
    answer["plan_ms"] = milliseconds(t0, t1);
    answer["run_ms"] = milliseconds(t1, t2);
    SpoolWriter writer(spool_ / kOutputsFile);
    json list = json::array();
    for (const Tensor& output : outputs) list.push_back(writer.add(output));
    writer.close();
    answer["outputs"] = std::move(list);
    return answer;
  }

  json fingerprint() {
    json taps = json::array();
    HashSink sink(taps, {});
    RunOptions options;
    options.taps = &sink;
    std::vector<std::uint64_t> outputs;
    for (const Tensor& output : session_->run(inputs_, options)) outputs.push_back(hash_of(output));
    return {{"outputs", outputs}, {"taps", std::move(taps)}};
  }

  json burst(const json& command) {
    const auto seconds = command.at("seconds").get<double>();
    const auto least = command.at("least").get<std::size_t>();
    const auto warmup = command.at("warmup").get<double>();
    const auto begin = Clock::now();
    if (warmup > 0) {
      do {
        session_->run(inputs_);
      } while (milliseconds(begin, Clock::now()) < warmup * 1e3);
    }
    std::vector<double> times;
    const auto start = Clock::now();
    while (times.size() < least || milliseconds(start, Clock::now()) < seconds * 1e3) {
      const auto t0 = Clock::now();
      session_->run(inputs_);
      times.push_back(milliseconds(t0, Clock::now()));
    }
    return {{"times", times}};
  }

  json profile(const json& command) {
    const auto seconds = command.at("seconds").get<double>();
    std::vector<std::vector<double>> times;
    std::vector<double> runs;
    std::vector<double> transfers;
    std::vector<SessionStep> last;
    const auto start = Clock::now();
    do {
      std::vector<SessionStep> steps;
      RunOptions options;
      options.steps = &steps;
      options.transfer_ms = &transfers.emplace_back(0.0);
      const auto t0 = Clock::now();
      session_->run(inputs_, options);
      runs.push_back(milliseconds(t0, Clock::now()));
      times.resize(steps.size());
      for (std::size_t i = 0; i < steps.size(); ++i) times[i].push_back(steps[i].ms);
      last = std::move(steps);
    } while (milliseconds(start, Clock::now()) < seconds * 1e3);
    json list = json::array();
    for (std::size_t i = 0; i < last.size(); ++i) {
      WorkerStep step;
      step.path = last[i].path;
      step.node = last[i].info.node.index;
      step.backend = last[i].backend;
      step.kernel = last[i].info.kernel;
      step.precision = last[i].info.precision;
      step.flops = last[i].info.flops;
      step.bytes = last[i].info.bytes;
      step.ms = median(times[i]);
      list.push_back(to_json(step));
    }
    return {{"steps", list}, {"run_ms", median(runs)}, {"transfer_ms", median(transfers)}};
  }

  json folder(const json& command) {
    const WorkerJob job = job_from_json(command.at("job"));
    // Kept open between folders: what the device has compiled serves the next one too.
    if (!backend_) backend_ = open_backend(parse_spec(job.spec));
    const FolderResult result = check_folder(job.model, job.spec, job);
    return {{"passed", result.passed},
            {"native", result.native},
            {"op", result.op},
            {"cause", result.cause},
            {"unsupported", result.unsupported},
            {"fallback", result.fallback}};
  }

  static json calibrate(const json& command) {
    CalibrateOptions options;
    options.sweep = command.at("sweep").get<bool>();
    options.seconds = command.at("seconds").get<double>();
    const BackendSpec spec = parse_spec(command.at("spec").get<std::string>());
    return to_json(measure_ceilings(spec, options));
  }

  json memory() const {
    WorkerMemory memory;
    memory.peak_bytes = high_water_mark();
    memory.planned = session_->memory();
    return to_json(memory);
  }

  json serve(const json& command) {
    const auto name = command.at("command").get<std::string>();
    if (name == "start") return start(command);
    if (name == "folder") return folder(command);
    if (name == "calibrate") return calibrate(command);
    if (!session_) throw Error(ErrorKind::failed, "internal: the worker has no model");
    if (name == "run") return run(command);
    if (name == "fingerprint") return fingerprint();
    if (name == "burst") return burst(command);
    if (name == "profile") return profile(command);
    if (name == "memory") return memory();
    if (name == "describe") return {{"text", session_->describe()}};
    throw Error(ErrorKind::failed, "internal: unknown worker command '" + name + "'");
  }

 private:
  std::filesystem::path spool_;
  std::unique_ptr<Session> session_;
  std::shared_ptr<Backend> backend_;
  std::vector<Tensor> inputs_;
};

}  // namespace

int worker_main() {
  // What drivers print must not get between the answers: they keep a descriptor of their own.
  const int answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Child child;
  std::string line;
  while (std::getline(std::cin, line)) {
    json answer;
    try {
      answer = child.serve(json::parse(line));
    } catch (const Error& error) {
      answer = to_json(error);
    } catch (const std::bad_alloc&) {
      answer = to_json(Error(ErrorKind::failed, "out of memory"));
    } catch (const std::exception& error) {
      answer = to_json(Error(ErrorKind::failed, error.what()));
    }
    std::string text = answer.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = write(answers, text.data() + done, text.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return 0;  // the parent has gone
      done += static_cast<std::size_t>(n);
    }
  }
  return 0;
}

}  // namespace concord::parity
