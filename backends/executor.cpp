#include "backends/executor.h"

#include <algorithm>
#include <chrono>

#include "backends/host/host.h"
#include "graph/error.h"
#include "graph/operand_errors.h"

namespace concord {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using graph::ValueId;

std::size_t at(ValueId id) {
  return static_cast<std::size_t>(id.index);
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

void collect_symbols(const Graph& graph, const std::vector<NodeId>& nodes,
                     std::set<std::string>& symbols) {
  const auto of_value = [&](ValueId id) {
    if (!id.valid() || !graph.value(id).shape) return;
    for (const Dim& dim : *graph.value(id).shape) dim.collect_symbols(symbols);
  };
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    for (const ValueId input : node.inputs) of_value(input);
    for (const ValueId output : node.outputs) of_value(output);
    for (const auto& [name, value] : node.attrs) {
      if (const auto* dims = std::get_if<SymShape>(&value)) {
        for (const Dim& dim : *dims) dim.collect_symbols(symbols);
      }
    }
  }
}

}  // namespace

Backend* ExecutorContext::cpu_backend() {
  const std::lock_guard lock(mutex);
  if (!cpu && open_cpu) {
    try {
      cpu = open_cpu();
    } catch (const Error&) {
      open_cpu = nullptr;  // not there: what needs it is reported by partition
    }
  }
  return cpu.get();
}

struct Executor::Segment {
  Backend* backend = nullptr;
  std::shared_ptr<const Graph> graph;
  std::unique_ptr<Program> program;
  std::vector<std::string> symbols;  // that the plan depends on
  std::vector<std::size_t> states;   // of the executor that the program keeps, in its order
  mutable std::mutex mutex;
  mutable std::shared_ptr<const Plan> last;

  std::shared_ptr<const Plan> plan(const Bindings& bindings) const {
    Bindings mine;
    for (const std::string& symbol : symbols) {
      if (const auto it = bindings.find(symbol); it != bindings.end()) mine.insert(*it);
    }
    auto plan = program->plan(mine);
    const std::lock_guard lock(mutex);
    last = plan;
    return plan;
  }
};

Executor::Executor(std::shared_ptr<const Graph> graph, std::shared_ptr<ExecutorContext> context,
                   bool is_body)
    : graph_(std::move(graph)), context_(std::move(context)) {
  const Backend& backend = *context_->backend;
  if (backend.is_interpreter()) {
    Part all;
    all.runner = Runner::device;
    all.nodes = graph_->order();
    all.inputs = graph_->inputs;
    all.outputs = graph_->outputs;
    partition_.parts.push_back(std::move(all));
  } else {
    partition_ = partition(*graph_, backend, [this] { return context_->cpu_backend(); });
  }
  for (graph::ShapeTie& tie : graph::shape_ties(*graph_)) {
    if (tie.in_body) continue;
    if (is_body || tie.rule.a.has_dynamic() || tie.rule.b.has_dynamic())
      dynamic_ties_.push_back(std::move(tie));
  }
  segments_.resize(partition_.parts.size());
  bodies_.resize(graph_->node_count());
  last_use_.assign(graph_->value_count(), 0);
  for (std::size_t i = 0; i < partition_.parts.size(); ++i) {
    const Part& part = partition_.parts[i];
    for (const ValueId id : part.inputs) last_use_[at(id)] = i;
    if (part.runner == Runner::device || part.runner == Runner::cpu) {
      auto segment = std::make_unique<Segment>();
      segment->backend =
          part.runner == Runner::device ? context_->backend.get() : context_->cpu_backend();
      segment->graph =
          std::make_shared<const Graph>(subgraph(*graph_, part.nodes, part.inputs, part.outputs));
      std::set<std::string> symbols;
      collect_symbols(*graph_, part.nodes, symbols);
      segment->symbols.assign(symbols.begin(), symbols.end());
      segment->program = segment->backend->compile(segment->graph, context_->options);
      segments_[i] = std::move(segment);
    } else if (part.runner == Runner::control) {
      for (const NodeId id : part.nodes) {
        for (const Graph& body : graph_->node(id).bodies) {
          bodies_[static_cast<std::size_t>(id.index)].push_back(
              std::make_unique<Executor>(std::make_shared<const Graph>(body), context_, true));
        }
      }
    }
  }
  for (const ValueId id : graph_->outputs) last_use_[at(id)] = partition_.parts.size();
}

Executor::~Executor() = default;

std::vector<Tensor> Executor::run(std::span<const Tensor> inputs, Bindings bindings,
                                  const RunOptions& options,
                                  std::span<StateArea* const> states) const {
  Frame frame;
  frame.states = states;
  frame.values.resize(graph_->value_count());
  frame.bindings = std::move(bindings);
  for (std::size_t i = 0; i < graph_->inputs.size(); ++i) {
    const ValueId id = graph_->inputs[i];
    frame.values[at(id)] = inputs[i];
    if (!graph_->value(id).shape) continue;
    if (const auto problem =
            bind_shape(*graph_->value(id).shape, inputs[i].shape(), frame.bindings)) {
      throw Error(ErrorKind::usage, "input '" + graph_->value(id).name + "' " + *problem);
    }
  }
  for (std::size_t i = 0; i < partition_.parts.size(); ++i) {
    run_part(i, frame, options);
    for (const ValueId id : partition_.parts[i].inputs) {
      if (last_use_[at(id)] == i) frame.values[at(id)] = Tensor();
    }
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : graph_->outputs) {
    const bool kept = std::ranges::find(kept_outputs_, id) != kept_outputs_.end();
    outputs.push_back(kept ? Tensor() : fetch(id, frame));
  }
  return outputs;
}

std::optional<std::string> Executor::keep_state(std::size_t input, std::size_t output) {
  const ValueId past = graph_->inputs[input];
  const ValueId present = graph_->outputs[output];
  const auto number_in = [](const std::vector<ValueId>& list, ValueId id) {
    const auto found = std::ranges::find(list, id);
    return found == list.end() ? std::nullopt : std::optional(found - list.begin());
  };
  if (graph_->is_output(past)) return "the input is an output too";
  if (std::ranges::count(graph_->outputs, present) != 1) return "two outputs are the same";
  std::optional<std::size_t> reader;
  for (std::size_t i = 0; i < partition_.parts.size(); ++i) {
    const Part& part = partition_.parts[i];
    if (number_in(part.inputs, present)) return "parts on different runners read the output";
    if (!number_in(part.inputs, past)) continue;
    if (reader) return "parts on different runners read the input";
    reader = i;
  }
  if (!reader || !segments_[*reader]) return "no backend reads the input";
  const Part& part = partition_.parts[*reader];
  const auto from = number_in(part.inputs, past);
  const auto to = number_in(part.outputs, present);
  if (!to) return "the part that reads the input does not make the output";
  Segment& segment = *segments_[*reader];
  auto why =
      segment.program->keep_state(static_cast<std::size_t>(*from), static_cast<std::size_t>(*to));
  if (why) return why;
  segment.states.push_back(kept_outputs_.size());
  kept_outputs_.push_back(present);
  return std::nullopt;
}

const Tensor& Executor::fetch(ValueId id, const Frame& frame) const {
  const Tensor& tensor = frame.values[at(id)];
  if (tensor.defined()) return tensor;
  const Value& value = graph_->value(id);
  if (value.constant) return *value.constant;
  throw Error(ErrorKind::failed, "internal: value '" + value.name + "' was not computed");
}

std::vector<Tensor> Executor::operands(const Node& node, const Frame& frame) const {
  std::vector<Tensor> tensors;
  for (const ValueId id : node.inputs) {
    tensors.push_back(id.valid() ? fetch(id, frame) : Tensor());
  }
  return tensors;
}

void Executor::store(ValueId id, Tensor tensor, Frame& frame, const RunOptions& options) const {
  if (!id.valid()) return;
  const Value& value = graph_->value(id);
  if (value.shape) {
    if (const auto problem = bind_shape(*value.shape, tensor.shape(), frame.bindings)) {
      throw Error(ErrorKind::invalid, "value '" + value.name + "' " + *problem);
    }
  }
  if (options.taps != nullptr && options.taps->wants(id)) options.taps->take(id, tensor);
  frame.values[at(id)] = std::move(tensor);
}

void Executor::run_part(std::size_t index, Frame& frame, const RunOptions& options) const {
  const Part& part = partition_.parts[index];
  switch (part.runner) {
    case Runner::device:
    case Runner::cpu:
      run_segment(part, *segments_[index], frame, options);
      return;
    case Runner::host:
      run_host(part, frame, options);
      return;
    case Runner::single:
      for (const NodeId id : part.nodes) {
        try {
          run_single(id, frame, options);
        } catch (const Error& error) {
          const Node& node = graph_->node(id);
          throw graph::with_operands(error, *graph_, node, operands(node, frame));
        }
      }
      return;
    case Runner::control:
      for (const NodeId id : part.nodes) {
        switch (graph_->node(id).op) {
          case OpKind::if_then_else:
            run_if(id, frame, options);
            break;
          case OpKind::loop:
            run_loop(id, frame, options);
            break;
          default:
            run_scan(id, frame, options);
            break;
        }
      }
      return;
  }
}

void Executor::run_segment(const Part& part, const Segment& segment, Frame& frame,
                           const RunOptions& options) const {
  if (const auto problem = graph::contradiction(dynamic_ties_, frame.bindings)) {
    throw Error(ErrorKind::invalid, *problem, "the model cannot run on these inputs");
  }
  const std::shared_ptr<const Plan> plan = segment.plan(frame.bindings);
  std::vector<Tensor> inputs;
  inputs.reserve(part.inputs.size());
  for (const ValueId id : part.inputs) inputs.push_back(fetch(id, frame));
  std::vector<Tensor> outputs;
  std::vector<double> times;
  RunArgs args;
  args.inputs = inputs;
  args.outputs = &outputs;
  args.taps = options.taps;
  args.step_ms = options.steps != nullptr ? &times : nullptr;
  args.transfer_ms = options.transfer_ms;
  std::vector<StateArea*> states;
  for (const std::size_t state : segment.states) states.push_back(frame.states[state]);
  args.states = states;
  plan->run(args);
  for (std::size_t i = 0; i < part.outputs.size(); ++i) {
    const ValueId id = part.outputs[i];
    frame.values[at(id)] = std::move(outputs[i]);
    if (segment.backend->is_interpreter() && graph_->value(id).shape) {
      bind_shape(*graph_->value(id).shape, frame.values[at(id)].shape(), frame.bindings);
    }
  }
  if (options.steps == nullptr) return;
  const auto steps = plan->steps();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    options.steps->push_back({steps[i], std::string(segment.backend->name()), options.path,
                              i < times.size() ? times[i] : 0.0});
  }
}

void Executor::run_host(const Part& part, Frame& frame, const RunOptions& options) const {
  for (const NodeId id : part.nodes) {
    const Node& node = graph_->node(id);
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Tensor> inputs = operands(node, frame);
    std::vector<Tensor> outputs;
    try {
      outputs = host::run(*graph_, node, inputs, frame.bindings);
    } catch (const Error& error) {
      throw graph::with_operands(graph::at_node(error, *graph_, node), *graph_, node, inputs);
    }
    for (std::size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i) {
      store(node.outputs[i], std::move(outputs[i]), frame, options);
    }
    if (options.steps != nullptr) {
      StepInfo info;
      info.node = id;
      info.kernel = "host";
      options.steps->push_back({info, "host", options.path, milliseconds_since(start)});
    }
  }
}

void Executor::prepare(const Bindings& bindings) const {
  for (const auto& segment : segments_) {
    if (!segment) continue;
    const bool known =
        std::all_of(segment->symbols.begin(), segment->symbols.end(),
                    [&](const std::string& symbol) { return bindings.contains(symbol); });
    if (known) segment->plan(bindings);
  }
}

void Executor::collect_fallbacks(std::vector<Fallback>& fallbacks) const {
  fallbacks.insert(fallbacks.end(), partition_.fallbacks.begin(), partition_.fallbacks.end());
  for (const auto& list : bodies_) {
    for (const auto& body : list) body->collect_fallbacks(fallbacks);
  }
}

MemoryUse Executor::memory() const {
  MemoryUse sum;
  const auto add = [&sum](const MemoryUse& use) {
    sum.weights += use.weights;
    sum.activations += use.activations;
    sum.naive += use.naive;
  };
  for (const auto& segment : segments_) {
    if (!segment) continue;
    const std::lock_guard lock(segment->mutex);
    if (segment->last) add(segment->last->memory());
  }
  for (const auto& list : bodies_) {
    for (const auto& body : list) add(body->memory());
  }
  return sum;
}

std::string Executor::describe(int indent) const {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string text;
  for (std::size_t i = 0; i < partition_.parts.size(); ++i) {
    const Part& part = partition_.parts[i];
    if (segments_[i]) {
      text += margin + "part " + std::to_string(i) + " on " +
              std::string(segments_[i]->backend->name()) + ": " +
              std::to_string(part.nodes.size()) + " nodes\n" + segments_[i]->program->describe();
      continue;
    }
    const char* who = part.runner == Runner::host      ? "the host"
                      : part.runner == Runner::control ? "control flow"
                                                       : "a backend, planned when it runs";
    text += margin + "part " + std::to_string(i) + " on " + who + ":\n";
    for (const NodeId id : part.nodes) {
      text += margin + "  " + graph::describe(graph_->node(id)) + "\n";
      for (const auto& body : bodies_[static_cast<std::size_t>(id.index)]) {
        text += body->describe(indent + 4);
      }
    }
  }
  return text;
}

}  // namespace concord
