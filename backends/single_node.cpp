// How an executor runs a node whose shape depends on data: planned when its operands are there.
#include <chrono>

#include "backends/executor.h"
#include "graph/error.h"
#include "graph/schema.h"

namespace concord {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Value;
using graph::ValueId;

// The node alone in a graph of its own, with the operands that decide its shape as constants and
// the other inputs at their actual extents.
void Executor::run_single(NodeId id, Frame& frame, const RunOptions& options) const {
  const auto start = std::chrono::steady_clock::now();
  Node node = graph_->node(id);
  Graph single;
  std::vector<Tensor> inputs;
  for (ValueId& input : node.inputs) {
    if (!input.valid()) continue;
    const Tensor& tensor = fetch(input, frame);
    const Value& value = graph_->value(input);
    if (value.is_constant() || (!is_float(tensor.dtype()) && tensor.count() <= 64) ||
        tensor.count() <= 8) {
      input = single.add_constant(value.name, tensor);
    } else {
      input = single.add_value(value.name, tensor.dtype(),
                               SymShape(tensor.shape().begin(), tensor.shape().end()));
      single.inputs.push_back(input);
      inputs.push_back(tensor);
    }
  }
  const std::vector<ValueId> targets = node.outputs;
  for (ValueId& output : node.outputs) {
    if (!output.valid()) continue;
    output = single.add_value(graph_->value(output).name, graph_->value(output).dtype);
    single.outputs.push_back(output);
  }
  node.sources.clear();
  graph::infer(single, single.add_node(std::move(node)));
  const Node& made = single.node(single.order().front());
  Backend* chosen = context_->backend.get();
  std::optional<std::string> reason = chosen->why_unsupported(single, made);
  if (reason && context_->allow_fallback) {
    chosen = context_->cpu_backend();
    reason = "the cpu backend is not there";
    if (chosen != nullptr) reason = chosen->why_unsupported(single, made);
  }
  if (reason) {
    throw Error(ErrorKind::unsupported, graph::describe(graph_->node(id)) + ": " + *reason);
  }
  const auto program = chosen->compile(std::make_shared<const Graph>(single), context_->options);
  // An extent that became an attribute may still speak of symbols that an earlier node bound.
  const auto plan = program->plan(frame.bindings);
  std::vector<Tensor> outputs;
  RunArgs args;
  args.inputs = inputs;
  args.outputs = &outputs;
  plan->run(args);
  std::size_t next = 0;
  for (const ValueId target : targets) {
    if (target.valid()) store(target, std::move(outputs[next++]), frame, options);
  }
  if (options.steps != nullptr && !plan->steps().empty()) {
    StepInfo info = plan->steps().front();
    info.node = id;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    options.steps->push_back({info, std::string(chosen->name()), options.path, took.count()});
  }
}

}  // namespace concord
