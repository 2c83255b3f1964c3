#include <chrono>

#include "backends/reference/evaluate_graph.h"
#include "backends/reference/reference_backend.h"

namespace concord::reference {
namespace {

using Clock = std::chrono::steady_clock;

class OraclePlan final : public Plan {
 public:
  OraclePlan(std::shared_ptr<const graph::Graph> graph, Bindings bindings)
      : graph_(std::move(graph)), bindings_(std::move(bindings)) {
    for (const graph::NodeId id : graph_->order()) {
      StepInfo step;
      step.node = id;
      step.kernel = "float64 " + std::string(to_string(graph_->node(id).op));
      const graph::ValueId output = graph_->node(id).output();
      const DataType declared = output.valid() ? graph_->value(output).dtype : DataType::undefined;
      step.precision = {DataType::f64, DataType::f64, is_float(declared) ? declared : DataType::f64,
                        false};
      steps_.push_back(std::move(step));
    }
  }

  std::span<const StepInfo> steps() const override { return steps_; }
  MemoryUse memory() const override { return {}; }

  void run(const RunArgs& args) const override {
    GraphOptions options;
    if (args.taps != nullptr) {
      options.on_value = [&](graph::ValueId id, const OracleValue& value) {
        if (args.taps->wants(id)) args.taps->take(id, value.rounded());
      };
    }
    if (args.step_ms != nullptr) {
      args.step_ms->assign(steps_.size(), 0);
      options.on_progress = [&, last = Clock::now()](std::size_t done, std::size_t) mutable {
        const auto now = Clock::now();
        (*args.step_ms)[done - 1] = std::chrono::duration<double, std::milli>(now - last).count();
        last = now;
      };
    }
    const std::vector<OracleValue> results =
        evaluate_graph(*graph_, args.inputs, bindings_, options);
    if (args.outputs == nullptr) return;
    args.outputs->clear();
    for (const OracleValue& value : results) args.outputs->push_back(value.rounded());
  }

 private:
  std::shared_ptr<const graph::Graph> graph_;
  Bindings bindings_;
  std::vector<StepInfo> steps_;
};

class OracleProgram final : public Program {
 public:
  explicit OracleProgram(std::shared_ptr<const graph::Graph> graph) : graph_(std::move(graph)) {}

  // Nothing is prepared, so there is nothing to keep.
  std::shared_ptr<const Plan> plan(const Bindings& bindings) override {
    return std::make_shared<OraclePlan>(graph_, bindings);
  }
  std::string describe() const override {
    return "float64 oracle: " + std::to_string(graph_->order().size()) + " nodes, one by one";
  }

 private:
  std::shared_ptr<const graph::Graph> graph_;
};

class OracleBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  const DeviceInfo& device() const override { return device_; }
  std::string version() const override { return "float64 oracle"; }
  std::optional<std::string> why_unsupported(const graph::Graph&,
                                             const graph::Node&) const override {
    return std::nullopt;
  }
  bool is_interpreter() const override { return true; }
  std::unique_ptr<Program> compile(std::shared_ptr<const graph::Graph> graph,
                                   const CompileOptions&) override {
    return std::make_unique<OracleProgram>(std::move(graph));
  }

 private:
  DeviceInfo device_{0, "float64 oracle", "built in", "cpu", 0};
};

}  // namespace

std::shared_ptr<Backend> make_backend(const CompileOptions&) {
  return std::make_shared<OracleBackend>();
}

}  // namespace concord::reference
