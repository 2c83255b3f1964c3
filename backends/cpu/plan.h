#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/cpu/arena.h"
#include "backends/cpu/dims.h"
#include "backends/cpu/frame.h"
#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {

// A strided view of a memory area.
struct View {
  Ref at;
  DataType dtype = DataType::undefined;
  Dims shape;
  Dims strides;  // elements

  bool dense() const { return is_dense(shape, strides); }
  std::int64_t bytes() const { return storage_bytes(dtype, shape.count()); }
};

// What a plan consists of once the planner is done with it.
struct PlanData {
  struct Step {
    std::int32_t first_action = 0;
    std::int32_t end_action = 0;
  };
  // A value that the tap of a step may be offered.
  struct Tap {
    std::int32_t step = 0;
    graph::ValueId value;
    View view;
  };
  struct Output {
    DataType dtype = DataType::undefined;
    Dims shape;
    std::uint32_t area = 0;
    bool is_state = false;  // it stays in the state's area
  };
  struct Input {
    std::uint32_t area = 0;  // 0: not used, or a state
    DataType dtype = DataType::undefined;
    Dims shape;
    graph::ValueId value;
  };
  struct State {
    std::uint32_t area = 0;
    Dims before;              // extents that a run finds in use
    int axis = 0;             // on which it grows
    std::int64_t room = 0;    // along it
    std::int64_t length = 0;  // after the run
  };

  std::vector<StepInfo> infos;
  std::vector<Step> steps;
  std::vector<std::unique_ptr<Action>> actions;
  std::vector<Tap> taps;
  // Areas by index: null, constants (fixed addresses), arena pieces (offsets), inputs and outputs.
  std::vector<std::byte*> fixed;  // by area; null where not fixed
  struct ArenaArea {
    std::uint32_t area = 0;
    std::int64_t offset = 0;
  };
  std::vector<ArenaArea> arena_areas;
  std::int64_t arena_bytes = 0;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<State> states;
  std::vector<std::shared_ptr<const void>> keep;  // what fixed areas and actions point into
  Bindings bindings;
  MemoryUse memory;
};

// What the plans of one program share.
struct ProgramState {
  std::shared_ptr<const graph::Graph> graph;
  ArenaPool arenas;
  std::shared_ptr<OutputPool> outputs = std::make_shared<OutputPool>();
  int threads = 1;
  Workers workers = Workers::own;  // OpenMP's where oneDNN computes
};

class CpuPlan : public Plan {
 public:
  CpuPlan(std::shared_ptr<ProgramState> program, PlanData data)
      : program_(std::move(program)), data_(std::move(data)) {}

  std::span<const StepInfo> steps() const override { return data_.infos; }
  MemoryUse memory() const override { return data_.memory; }
  void run(const RunArgs& args) const override;

 private:
  void check_inputs(const RunArgs& args) const;
  void place_states(const RunArgs& args, std::byte** areas) const;
  void run_observed(const Frame& frame, const RunArgs& args, std::size_t& action) const;
  void offer_taps(const Frame& frame, TapSink& taps, std::size_t step, std::size_t& next) const;

  std::shared_ptr<ProgramState> program_;
  PlanData data_;
};

// A dense copy of what a view shows.
Tensor read_view(const Frame& frame, const View& view);

}  // namespace concord::cpu
