#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "backends/gpu/arena_pool.h"
#include "backends/gpu/device.h"
#include "backends/gpu/memory_plan.h"
#include "backends/gpu/plan_builder.h"
#include "backends/gpu/weights.h"
#include "graph/graph.h"

namespace concord::gpu {

// Recordings that plans have no use for any more: the next plan may be able to update one.
class SpareLists {
 public:
  std::unique_ptr<CommandList> take();  // the one put last; null when there is none
  void put(std::unique_ptr<CommandList> list);

 private:
  static constexpr std::size_t kMost = 4;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CommandList>> lists_;
};

// What a program's plans share; plans keep it alive.
struct ProgramState {
  ProgramState(std::shared_ptr<Device> on_device, std::shared_ptr<const graph::Graph> of_graph,
               const CompileOptions& with)
      : device(std::move(on_device)),
        graph(std::move(of_graph)),
        options(with),
        weights(device, graph),
        arenas(device) {}

  std::shared_ptr<Device> device;
  std::shared_ptr<const graph::Graph> graph;
  CompileOptions options;
  Weights weights;
  ArenaPool arenas;
  SpareLists spares;
  std::atomic<std::uint64_t> last_run_calls = 0;  // of the driver; 0: not counted
};

// Commands for one set of extents. The commands are recorded at the first run in an arena and
// replayed in later ones.
class GpuPlan : public Plan {
 public:
  GpuPlan(std::shared_ptr<ProgramState> state, const Bindings& bindings);

  std::span<const StepInfo> steps() const override { return draft_.steps; }
  MemoryUse memory() const override;
  void run(const RunArgs& args) const override;

 private:
  // Which commands were recorded: where, and whether they measure or keep every tensor.
  struct Recording {
    std::uint64_t arena = 0;
    bool timed = false;
    bool apart = false;
    friend auto operator<=>(const Recording&, const Recording&) = default;
  };
  struct Recorded {
    ~Recorded();
    std::shared_ptr<ProgramState> state;  // takes the list back
    bool timed = false;
    std::unique_ptr<CommandList> list;
    std::vector<std::int32_t> steps;  // of each command, −1 for none
  };
  // Where inputs and outputs pass between host and device.
  struct Port {
    Operand operand;
    DataType dtype = DataType::undefined;  // on the host
    std::int64_t staging = 0;              // offset in the upload or download memory
    std::optional<Tensor> constant;        // an output that is a constant
  };

  void lower(const Bindings& bindings);
  void add_ports();
  void lay_out_memory();
  const MemoryLayout& layout(bool apart) const { return apart ? apart_ : reused_; }
  ArenaNeeds needs(bool apart) const;
  MemoryRange range(const Operand& operand, const Arena& arena, bool apart) const;
  std::vector<Command> resolve(const Arena& arena, bool apart,
                               std::vector<std::int32_t>& steps) const;
  std::shared_ptr<const Recorded> list(const Recording& recording, const Arena& arena) const;
  void write_inputs(std::span<const Tensor> inputs, const Arena& arena, bool apart) const;
  Tensor read_port(const Port& port, const Arena& arena, bool apart) const;
  std::vector<Tensor> read_outputs(const Arena& arena, bool apart) const;
  void check_faults(const Arena& arena, bool apart) const;
  Tensor read(const Operand& operand, DataType dtype, const Arena& arena, bool apart) const;

  std::shared_ptr<ProgramState> state_;
  PlanDraft draft_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  Port faults_;         // undefined operand: no step checks indices
  ArenaNeeds staging_;  // upload and download bytes
  MemoryLayout reused_;
  MemoryLayout apart_;  // every buffer keeps its data to the end, for taps

  mutable std::mutex mutex_;
  mutable std::map<Recording, std::shared_ptr<const Recorded>> recorded_;
};

}  // namespace concord::gpu
