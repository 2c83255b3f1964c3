#include "tests/faults/faulty_backend.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "backends/reference/oracle.h"
#include "backends/registry.h"
#include "graph/error.h"

namespace concord::faults {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

// What a set of nodes reads from outside, constants apart.
std::vector<ValueId> read_by(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::set<ValueId> made;
  for (const NodeId id : nodes) {
    for (const ValueId output : graph.node(id).outputs) made.insert(output);
  }
  std::vector<ValueId> inputs;
  for (const NodeId id : nodes) {
    for (const ValueId input : graph.node(id).inputs) {
      if (!input.valid() || made.contains(input) || graph.value(input).is_constant()) continue;
      if (std::find(inputs.begin(), inputs.end(), input) == inputs.end()) inputs.push_back(input);
    }
  }
  return inputs;
}

// Values that nodes make and that are wanted elsewhere.
std::vector<ValueId> made_for(const Graph& graph, const std::vector<NodeId>& nodes,
                              const std::set<ValueId>& wanted) {
  std::vector<ValueId> outputs;
  for (const NodeId id : nodes) {
    for (const ValueId output : graph.node(id).outputs) {
      if (output.valid() && wanted.contains(output)) outputs.push_back(output);
    }
  }
  return outputs;
}

// One of the three pieces that a program is cut into: before the step, the step, after it.
struct Piece {
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::unique_ptr<Program> program;

  void compile(Backend& backend, const Graph& graph, const std::vector<NodeId>& nodes,
               std::vector<ValueId> wanted, const CompileOptions& options) {
    outputs = std::move(wanted);
    inputs = read_by(graph, nodes);
    program = backend.compile(
        std::make_shared<const Graph>(subgraph(graph, nodes, inputs, outputs)), options);
  }
};

class FaultyProgram;

class FaultyPlan final : public Plan {
 public:
  FaultyPlan(const FaultyProgram& program, const Bindings& bindings);
  std::span<const StepInfo> steps() const override { return steps_; }
  MemoryUse memory() const override;
  void run(const RunArgs& args) const override;

 private:
  using Frame = std::map<ValueId, Tensor>;
  void run_piece(std::size_t which, Frame& frame, const RunArgs& args) const;
  void run_step(Frame& frame, const RunArgs& args) const;

  const FaultyProgram& program_;
  std::shared_ptr<const Plan> plans_[3];
  std::vector<StepInfo> steps_;
};

class FaultyProgram final : public Program {
 public:
  FaultyProgram(std::shared_ptr<Backend> inner, std::shared_ptr<const Graph> graph, NodeId step,
                const Fault& fault, const CompileOptions& options)
      : inner_(std::move(inner)), graph_(std::move(graph)), step_(step), fault_(fault) {
    const std::vector<NodeId>& order = graph_->order();
    const auto at = std::find(order.begin(), order.end(), step);
    const std::vector<NodeId> before(order.begin(), at);
    const std::vector<NodeId> after(at + 1, order.end());
    const std::vector<ValueId> for_after = read_by(*graph_, after);
    std::set<ValueId> wanted(for_after.begin(), for_after.end());
    wanted.insert(graph_->outputs.begin(), graph_->outputs.end());
    std::vector<ValueId> results;
    for (const ValueId id : graph_->node(step).outputs) {
      if (id.valid()) results.push_back(id);
    }
    const Graph faulty = changed(*graph_, step, fault);
    pieces_[1].compile(*inner_, faulty, {step}, results, options);
    for (const ValueId id : graph_->node(step).inputs) {
      if (id.valid()) wanted.insert(id);
    }
    if (!before.empty()) {
      pieces_[0].compile(*inner_, *graph_, before, made_for(*graph_, before, wanted), options);
    }
    if (!after.empty()) {
      const std::set<ValueId> outputs(graph_->outputs.begin(), graph_->outputs.end());
      pieces_[2].compile(*inner_, *graph_, after, made_for(*graph_, after, outputs), options);
    }
  }

  // The graph with the fault's change of the node and of its constant operands.
  static Graph changed(const Graph& graph, NodeId step, const Fault& fault) {
    const FaultKind& kind = kind_of(fault);
    Graph result = graph;
    if (kind.change != nullptr) kind.change(result, result.node(step));
    if (kind.operand == nullptr) return result;
    Node& node = result.node(step);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].valid() || !result.value(node.inputs[i]).is_constant()) continue;
      const Tensor other = kind.operand(result, node, i, *result.value(node.inputs[i]).constant);
      if (other.defined()) {
        node.inputs[i] = result.add_constant(result.value(node.inputs[i]).name, other);
      }
    }
    return result;
  }

  std::shared_ptr<const Plan> plan(const Bindings& bindings) override {
    return std::make_shared<FaultyPlan>(*this, bindings);
  }
  std::string describe() const override {
    return "  with a fault: " + fault_.kind + " at '" + fault_.output + "'\n";
  }

  std::shared_ptr<Backend> inner_;
  std::shared_ptr<const Graph> graph_;
  NodeId step_;
  Fault fault_;
  Piece pieces_[3];
  mutable std::atomic<int> runs_ = 0;
};

FaultyPlan::FaultyPlan(const FaultyProgram& program, const Bindings& bindings) : program_(program) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (!program.pieces_[i].program) continue;
    plans_[i] = program.pieces_[i].program->plan(bindings);
    const auto steps = plans_[i]->steps();
    steps_.insert(steps_.end(), steps.begin(), steps.end());
  }
}

MemoryUse FaultyPlan::memory() const {
  MemoryUse sum;
  for (const auto& plan : plans_) {
    if (!plan) continue;
    const MemoryUse use = plan->memory();
    sum.weights += use.weights;
    sum.activations += use.activations;
    sum.naive += use.naive;
  }
  return sum;
}

void FaultyPlan::run_piece(std::size_t which, Frame& frame, const RunArgs& args) const {
  if (!plans_[which]) return;
  const Piece& piece = program_.pieces_[which];
  std::vector<Tensor> inputs;
  for (const ValueId id : piece.inputs) inputs.push_back(frame.at(id));
  std::vector<Tensor> outputs;
  RunArgs mine;
  mine.inputs = inputs;
  mine.outputs = &outputs;
  mine.taps = args.taps;
  plans_[which]->run(mine);
  for (std::size_t i = 0; i < outputs.size(); ++i) frame[piece.outputs[i]] = outputs[i];
}

void FaultyPlan::run_step(Frame& frame, const RunArgs& args) const {
  const Graph& graph = *program_.graph_;
  const Node& node = graph.node(program_.step_);
  const FaultKind& kind = kind_of(program_.fault_);
  std::vector<Tensor> operands;
  Frame other = frame;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (!id.valid()) {
      operands.emplace_back();
      continue;
    }
    const bool constant = graph.value(id).is_constant();
    operands.push_back(constant ? *graph.value(id).constant : frame.at(id));
    if (constant || kind.operand == nullptr) continue;
    const Tensor changed = kind.operand(graph, node, i, operands.back());
    if (changed.defined()) other[id] = changed;
  }
  const Injection injection{graph, node, operands, program_.fault_.seed, program_.runs_++};
  const std::vector<ValueId>& targets = program_.pieces_[1].outputs;
  std::vector<Tensor> results;
  if (kind.compute != nullptr) {
    results = kind.compute(injection);
  } else {
    run_piece(1, other, {});
    for (const ValueId id : targets) results.push_back(other.at(id));
  }
  if (kind.results != nullptr) kind.results(injection, results);
  for (std::size_t i = 0; i < targets.size() && i < results.size(); ++i) {
    frame[targets[i]] = results[i];
    if (args.taps != nullptr && args.taps->wants(targets[i])) {
      args.taps->take(targets[i], results[i]);
    }
  }
}

void FaultyPlan::run(const RunArgs& args) const {
  const Graph& graph = *program_.graph_;
  Frame frame;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) frame[graph.inputs[i]] = args.inputs[i];
  if (args.step_ms != nullptr) args.step_ms->assign(steps_.size(), 0.0);
  run_piece(0, frame, args);
  run_step(frame, args);
  run_piece(2, frame, args);
  args.outputs->clear();
  for (const ValueId id : graph.outputs) {
    const auto it = frame.find(id);
    args.outputs->push_back(it != frame.end() ? it->second : *graph.value(id).constant);
  }
}

class FaultyBackend final : public Backend {
 public:
  FaultyBackend(std::shared_ptr<Backend> inner, std::optional<Fault> fault)
      : inner_(std::move(inner)), fault_(std::move(fault)) {}

  std::string_view name() const override { return "faulty"; }
  const DeviceInfo& device() const override { return inner_->device(); }
  std::string version() const override { return inner_->version(); }
  std::optional<std::string> why_unsupported(const Graph& graph, const Node& node) const override {
    return inner_->why_unsupported(graph, node);
  }
  std::unique_ptr<Program> compile(std::shared_ptr<const Graph> graph,
                                   const CompileOptions& options) override {
    const auto step = fault_ ? find_node(*graph, *fault_) : std::nullopt;
    if (!step) return inner_->compile(std::move(graph), options);
    return std::make_unique<FaultyProgram>(inner_, std::move(graph), *step, *fault_, options);
  }

 private:
  std::shared_ptr<Backend> inner_;
  std::optional<Fault> fault_;
};

}  // namespace

std::shared_ptr<Backend> make_faulty(const BackendSpec& spec) {
  std::optional<Fault> fault;
  if (!spec.device.empty()) fault = read_fault(spec.device);
  BackendSpec inner = parse_spec(fault ? fault->inner : "cpu");
  inner.options = spec.options;
  return std::make_shared<FaultyBackend>(open_backend(inner), std::move(fault));
}

void register_faulty() {
  register_backend("faulty", make_faulty);
}

std::vector<Tensor> faulty_results(const Site& site, const Fault& fault, const Bindings& bindings,
                                   const StepPrecision& precision) {
  const FaultKind& kind = kind_of(fault);
  const auto step = find_node(site.graph, fault);
  if (!step) throw Error(ErrorKind::failed, "no step '" + fault.output + "'");
  int run = 0;
  while (kind.is_race && !race_shows(fault.seed, run)) ++run;
  const Injection injection{site.graph, site.node, site.operands, fault.seed, run};
  std::vector<Tensor> results;
  if (kind.compute != nullptr) {
    results = kind.compute(injection);
  } else {
    const Graph faulty = FaultyProgram::changed(site.graph, *step, fault);
    const Node& node = faulty.node(*step);
    std::vector<reference::OracleValue> operands;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].valid()) {
        operands.emplace_back();
        continue;
      }
      const graph::Value& value = faulty.value(node.inputs[i]);
      Tensor tensor;
      if (value.is_constant()) {
        tensor = *value.constant;
      } else {
        // The change may have put another value here.
        const auto& inputs = site.node.inputs;
        const auto at = std::find(inputs.begin(), inputs.end(), node.inputs[i]);
        tensor = site.operands.at(static_cast<std::size_t>(at - inputs.begin()));
        if (kind.operand != nullptr) {
          const Tensor other = kind.operand(site.graph, site.node, i, tensor);
          if (other.defined()) tensor = other;
        }
      }
      operands.push_back(reference::from_tensor(tensor));
    }
    reference::Numerics numerics;
    numerics.precision = precision;
    for (const reference::OracleValue& value :
         reference::evaluate(faulty, node, operands, bindings, numerics)) {
      results.push_back(value.rounded());
    }
  }
  if (kind.results != nullptr) kind.results(injection, results);
  return results;
}

}  // namespace concord::faults
