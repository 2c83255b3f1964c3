#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/cpu/dim_table.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/plan.h"

namespace concord::cpu {

// One value of the program, numbered densely: plans index by it.
struct ValueInfo {
  graph::ValueId id;
  DataType dtype = DataType::undefined;
  std::vector<DimRef> shape;
  int uses = 0;             // by units and as graph outputs
  int input = -1;           // index among the graph's inputs
  int output = -1;          // this value is written where output i lies (itself or by a reshape)
  bool is_output = false;   // named by the graph's outputs
  bool wants_view = false;  // some reader takes any strides
  bool views_only = false;  // every reader does, and the graph's outputs do not name it
  std::uint32_t area = 0;   // of a constant
  int state = -1;           // it lies in this state's area
  std::optional<Tensor> constant;
  std::byte* f32 = nullptr;  // a converted copy of a 16-bit constant, once a plan wanted it
};

// One step of every plan: usually a node.
struct Unit {
  graph::NodeId node;
  std::vector<int> inputs;  // value numbers, −1 where omitted
  std::vector<int> outputs;
  std::vector<int> side_outputs;             // outputs of later units that this one writes
  std::function<PlanFn(Compiler&)> prepare;  // instead of the operator's lowering, if set
  PlanFn plan;
};

// An input and an output that are one tensor, which stays where it lies from run to run.
struct StateInfo {
  int input = 0;  // value number
  int output = 0;
  int axis = 0;     // the output is the input and more along it
  int padded = -1;  // the input with room for what is scattered into it; −1: it is appended
};

// What compile makes and all plans read.
struct ProgramLayout {
  std::vector<ValueInfo> values;
  std::vector<Unit> units;
  DimTable dims;
  std::vector<int> graph_inputs;   // value numbers
  std::vector<int> graph_outputs;  // value numbers
  std::vector<StateInfo> states;
  std::vector<std::byte*> fixed;  // addresses of the constants' areas; area 0 is null
  std::vector<std::shared_ptr<const void>> keep;  // packed weights, converted constants
  std::int64_t weight_bytes = 0;
};

class CpuProgram : public Program {
 public:
  CpuProgram(std::shared_ptr<const graph::Graph> graph, const CompileOptions& options);

  std::shared_ptr<const Plan> plan(const Bindings& bindings) override;
  std::string describe() const override;
  std::optional<std::string> keep_state(std::size_t input, std::size_t output) override;

 private:
  struct Cached {
    std::vector<std::int64_t> key;
    std::shared_ptr<const Plan> plan;
  };
  std::vector<std::int64_t> key_of(const Bindings& bindings) const;

  std::shared_ptr<ProgramState> state_;
  ProgramLayout layout_;
  std::size_t max_plans_;
  std::mutex mutex_;
  std::list<Cached> plans_;  // the most recently used first
};

}  // namespace concord::cpu
