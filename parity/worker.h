#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/session.h"
#include "graph/graph.h"
#include "graph/tensor.h"

// One participant in a process of its own: its peak memory and instruction set are its own, and a
// driver that crashes or hangs is a verdict, not the end of the report.
namespace concord::parity {

// What a worker is started with.
struct WorkerJob {
  std::filesystem::path model;  // .onnx file or folder
  std::string spec;             // backend spec
  std::optional<std::filesystem::path> external_root;
  std::set<std::string> disabled_passes;
  bool allow_fallback = true;
  bool exact = false;  // integers for weights, see exact.h
  // Of the inputs, for a model that leaves them open (backends/ranks.h); else they may be omitted.
  std::vector<std::int64_t> ranks;
  double timeout_s = 600;  // of one command
};

struct WorkerFallback {
  int node = -1;
  std::string name, op, reason;
  bool by_nature = false;
};

// After load and compile.
struct WorkerReady {
  double load_ms = 0;
  double compile_ms = 0;
  std::string backend;
  DeviceInfo device;
  std::string version;  // libraries and driver
  std::vector<WorkerFallback> fallbacks;
};

// Which body of which control-flow node, outermost first; empty for the model's own graph.
using BodyPath = std::vector<std::pair<int, int>>;

struct WorkerStep {
  BodyPath path;
  int node = -1;  // NodeId in the optimised graph (or body)
  std::string backend;
  std::string kernel;
  StepPrecision precision;
  double flops = 0;
  double bytes = 0;
  double ms = 0;  // median over the timed runs
};

// Values that the run wrote, by body path and ValueId of the optimised graph.
using TapKey = std::pair<BodyPath, int>;

struct WorkerRun {
  std::vector<Tensor> outputs;
  std::map<TapKey, Tensor> taps;  // views of a spooled file; empty unless asked for
  double plan_ms = 0;             // 0 if the plan was there
  double run_ms = 0;
};

// Hashes of what one run wrote, bit by bit.
struct WorkerFingerprint {
  std::vector<std::uint64_t> outputs;
  std::map<TapKey, std::uint64_t> taps;
  friend bool operator==(const WorkerFingerprint&, const WorkerFingerprint&) = default;
};

// One timed run, step by step.
struct WorkerProfile {
  std::vector<WorkerStep> steps;
  double run_ms = 0;       // median of the runs as a whole, timing's own cost included
  double transfer_ms = 0;  // median; between host and device
};

struct WorkerMemory {
  std::int64_t peak_bytes = 0;  // high-water mark of the process, mapped pages included
  MemoryUse planned;
};

// The parent's end. Every call throws Error: the worker's own error as it was; Error(failed) with
// the signal or time-out if the worker died ("crashed with signal 11 (Segmentation fault)").
class Worker {
 public:
  explicit Worker(const WorkerJob& job);  // starts the process; returns at once
  ~Worker();                              // ends it
  Worker(Worker&&) noexcept;

  const WorkerReady& ready();  // waits for load and compile
  // Inputs in the model's order. With taps, every value that the plan writes anyway is spooled.
  WorkerRun run(const std::vector<Tensor>& inputs, bool taps);
  // Runs on the inputs of the last run(), tapped, and keeps only hashes.
  WorkerFingerprint fingerprint();
  // Runs on the inputs of the last run(): warms up (one run at least, unless warmup_s is 0), then
  // measures for `seconds` (at least `least` runs); one latency in ms per run.
  std::vector<double> burst(double seconds, int least = 5, double warmup_s = 0.0);
  // Medians over runs that together take about `seconds`, one run at least.
  WorkerProfile profile(double seconds);
  std::vector<WorkerStep> steps(double seconds) { return profile(seconds).steps; }
  WorkerMemory memory();
  std::string describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The child's end: serves commands from stdin until it ends. `concord worker` calls it.
int worker_main();

}  // namespace concord::parity
