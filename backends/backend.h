#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace concord {

enum class Precision : std::uint8_t { model, f32, tf32, bf16, f16, int8 };
std::string_view to_string(Precision precision);

// Who computes matrix products: a vendor's library (cpu: oneDNN, cuda: cuBLASLt) or this project's
// own kernels. Automatic is what is faster as a rule: cuda's library, the cpu's own kernels.
enum class MatmulSource : std::uint8_t { automatic, library, portable };

struct CompileOptions {
  Precision precision = Precision::model;
  int threads = 0;             // 0: as many as the process may use
  std::string isa = "native";  // cpu: avx2, avx512, native
  MatmulSource matmul = MatmulSource::automatic;
  bool replay = true;          // gpu: record once and replay
  std::size_t max_plans = 16;  // per program; the least recently used goes
};

struct DeviceInfo {
  int index = 0;
  std::string name;
  std::string driver;  // name and version
  std::string type;    // cpu, integrated, discrete, virtual
  std::uint64_t memory_bytes = 0;
  int units = 0;  // multiprocessors, compute units or cores; 0: not known
};

// Types in which a step really computes.
struct StepPrecision {
  DataType operand = DataType::f32;     // what products are made of (tf32 is shown by the flag)
  DataType accumulate = DataType::f32;  // what sums are kept in
  DataType store = DataType::f32;       // what is written
  bool tf32 = false;
  friend bool operator==(const StepPrecision&, const StepPrecision&) = default;
};

// One step of a plan: one node of the program's graph and the kernel that carries it out.
struct StepInfo {
  graph::NodeId node;
  std::string kernel;  // "onednn matmul", "view", "layer_norm_f32"
  StepPrecision precision;
  double flops = 0;  // arithmetic operations, 2 per multiply-add
  double bytes = 0;  // read and written, each operand once
};

struct MemoryUse {
  std::int64_t weights = 0;      // bytes of packed or uploaded weights, shared by all plans
  std::int64_t activations = 0;  // bytes of the plan's arena
  std::int64_t naive = 0;        // bytes the arena would have without reuse
};

// Receives tensors that a run writes anyway. A value that lives in no tensor of its own (fused
// away) is never offered.
class TapSink {
 public:
  virtual ~TapSink() = default;
  virtual bool wants(graph::ValueId id) const = 0;
  virtual void take(graph::ValueId id, Tensor tensor) = 0;
  // The sink for the values of a control-flow node's body; null: none of them is wanted.
  virtual TapSink* body(graph::NodeId /*node*/, std::size_t /*which*/) { return nullptr; }
};

class StateArea;  // backends/state_area.h

struct RunArgs {
  std::span<const Tensor> inputs;          // in the program graph's input order, dense, on the host
  std::vector<Tensor>* outputs = nullptr;  // resized; fresh tensors in output order
  TapSink* taps = nullptr;
  std::vector<double>* step_ms = nullptr;  // resized to the steps if wanted
  // Added to, if wanted: what moving inputs and outputs between host and device took, ms. Device
  // copies count where step_ms is wanted too.
  double* transfer_ms = nullptr;
  std::span<StateArea* const> states = {};  // those that the program keeps, see Program::keep_state
};

// A program for one set of extents. Immutable; run() may be called by many threads at once: what
// belongs to one run is taken from a pool inside.
class Plan {
 public:
  virtual ~Plan() = default;
  virtual std::span<const StepInfo> steps() const = 0;
  virtual MemoryUse memory() const = 0;
  virtual void run(const RunArgs& args) const = 0;
};

// A graph compiled for one device: weights converted and packed once, shared by all plans.
class Program {
 public:
  virtual ~Program() = default;
  // `bindings` holds every symbol that occurs in the graph's shapes. Cached, bounded, thread safe.
  virtual std::shared_ptr<const Plan> plan(const Bindings& bindings) = 0;
  virtual std::string describe() const = 0;
  // Makes an input and an output of the graph, given by their numbers, one tensor that lies in a
  // StateArea from run to run: runs read the input there, leave the output there, and their tensors
  // stay undefined. States are numbered in the order of these calls, all before the first plan.
  // Returns why it cannot be; then nothing has changed.
  virtual std::optional<std::string> keep_state(std::size_t /*input*/, std::size_t /*output*/) {
    return "the backend keeps no states";
  }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  // "cpu", "vulkan"
  virtual const DeviceInfo& device() const = 0;
  // Library and driver versions, for --version and reports: "oneDNN 3.2.0".
  virtual std::string version() const = 0;
  // True for an interpreter that runs any imported graph node by node, data-dependent extents and
  // control flow included: it is given the whole unoptimised graph.
  virtual bool is_interpreter() const { return false; }
  // Why this node cannot run here; nullopt if it can. All shapes of a node that a backend is asked
  // about have a known rank, and no extent depends on data that is not there when a plan is made.
  virtual std::optional<std::string> why_unsupported(const graph::Graph& graph,
                                                     const graph::Node& node) const = 0;
  virtual std::unique_ptr<Program> compile(std::shared_ptr<const graph::Graph> graph,
                                           const CompileOptions& options) = 0;
};

// --- modules
// ---------------------------------------------------------------------------------------

// How a module (libconcord_<name>.so) offers its backend. Devices are listed without being opened
// further than that takes. Both functions throw Error(failed) with the reason if there is none.
struct ModuleApi {
  const char* build_id;  // CONCORD_BUILD_ID of backends/build_id.h
  const char* name;
  std::vector<DeviceInfo> (*devices)();
  // `selector`: an index, a piece of the device's or driver's name, or empty for the first.
  std::unique_ptr<Backend> (*create)(const std::string& selector, const CompileOptions& options);
};

// extern "C" const concord::ModuleApi* concord_module_v1();  is what a module exports.

}  // namespace concord
