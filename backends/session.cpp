#include "backends/session.h"

#include <iostream>
#include <mutex>

#include "backends/check_input.h"
#include "backends/executor.h"
#include "backends/reference/oracle.h"
#include "backends/registry.h"
#include "graph/error.h"
#include "graph/passes.h"
#include "graph/schema.h"
#include "graph/shape_ties.h"

namespace concord {
namespace {

using graph::Graph;
using graph::ValueId;

// A graph with its optimised copy and executor.
struct Compiled {
  std::shared_ptr<const Graph> imported;
  std::shared_ptr<const Graph> optimised;
  std::unique_ptr<Executor> executor;
};

std::string wanted(const Graph& graph) {
  std::string text;
  for (const ValueId id : graph.inputs) {
    const graph::Value& value = graph.value(id);
    text += (text.empty() ? "" : ", ") + value.name + ": " + std::string(to_string(value.dtype)) +
            (value.shape ? to_string(*value.shape) : "[any rank]");
  }
  return "the model's inputs are " + text;
}

std::string fallback_table(const std::vector<Fallback>& fallbacks) {
  std::string text;
  for (const Fallback& f : fallbacks) {
    if (f.by_nature) continue;
    text += "\n  " + (f.name.empty() ? f.op : f.name + " (" + f.op + ")") + ": " + f.reason;
  }
  return text;
}

}  // namespace

void check_input(const Graph& graph, const graph::Value& value, const Tensor& input,
                 Bindings& bindings) {
  if (!input.defined()) {
    throw Error(ErrorKind::usage, "input '" + value.name + "' is missing", wanted(graph));
  }
  if (input.dtype() != value.dtype) {
    throw Error(ErrorKind::usage,
                "input '" + value.name + "' is " + std::string(to_string(input.dtype())) +
                    ", the model wants " + std::string(to_string(value.dtype)),
                wanted(graph));
  }
  if (!value.shape) return;
  if (const auto problem = bind_shape(*value.shape, input.shape(), bindings)) {
    throw Error(ErrorKind::usage, "input '" + value.name + "' " + *problem, wanted(graph));
  }
}

void check_inputs(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs.size()) {
    throw Error(ErrorKind::usage,
                std::to_string(inputs.size()) + " inputs given, the model has " +
                    std::to_string(graph.inputs.size()),
                wanted(graph));
  }
  Bindings bindings;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_input(graph, graph.value(graph.inputs[i]), inputs[i], bindings);
  }
}

std::shared_ptr<const Graph> optimise_for(std::shared_ptr<const Graph> imported,
                                          const BackendSpec& spec,
                                          const std::set<std::string>& disabled_passes) {
  if (spec.backend == "reference") return imported;
  graph::PassOptions passes;
  passes.fusion = spec.fusion;
  passes.disabled = disabled_passes;
  passes.evaluator = reference::fold;
  passes.quantised_products = spec.backend == "cpu";
  return std::make_shared<const Graph>(graph::optimise(*imported, passes));
}

struct Session::State {
  BackendSpec spec;
  SessionOptions options;
  std::shared_ptr<ExecutorContext> context;
  Compiled model;
  std::vector<Fallback> fallbacks;
  // Models with inputs of any rank are compiled again for the ranks that they meet.
  std::mutex mutex;
  std::map<std::vector<std::int64_t>, Compiled> by_rank;
  bool any_rank = false;
  std::vector<graph::ShapeTie> ties;  // of the imported graph

  // Extents that the model's nodes need to be equal, though its inputs name them apart.
  void check_ties(std::span<const Tensor> inputs) const {
    if (ties.empty()) return;
    Bindings bindings;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& shape = model.imported->value(model.imported->inputs[i]).shape;
      if (shape) static_cast<void>(bind_shape(*shape, inputs[i].shape(), bindings));
    }
    if (const auto problem = graph::contradiction(ties, bindings)) {
      throw Error(ErrorKind::usage, *problem, "give inputs whose shapes fit together");
    }
  }

  Compiled compile(std::shared_ptr<const Graph> imported) const;
  const Executor& executor(std::span<const Tensor> inputs);
  void report();
};

Compiled Session::State::compile(std::shared_ptr<const Graph> imported) const {
  Compiled result;
  result.imported = std::move(imported);
  result.optimised = context->backend->is_interpreter()
                         ? result.imported
                         : optimise_for(result.imported, spec, options.disabled_passes);
  result.executor = std::make_unique<Executor>(result.optimised, context);
  return result;
}

const Executor& Session::State::executor(std::span<const Tensor> inputs) {
  if (!any_rank) return *model.executor;
  std::vector<std::int64_t> ranks;
  for (const Tensor& tensor : inputs) ranks.push_back(tensor.rank());
  const std::lock_guard lock(mutex);
  auto it = by_rank.find(ranks);
  if (it == by_rank.end()) {
    auto ranked = std::make_shared<Graph>(*model.imported);
    for (std::size_t i = 0; i < ranked->inputs.size(); ++i) {
      graph::Value& value = ranked->value(ranked->inputs[i]);
      if (value.shape) continue;
      SymShape shape;
      for (std::int64_t axis = 0; axis < ranks[i]; ++axis) {
        shape.push_back(Dim::symbol(value.name + "." + std::to_string(axis)));
      }
      value.shape = std::move(shape);
    }
    graph::infer(*ranked);
    it = by_rank.emplace(std::move(ranks), compile(std::move(ranked))).first;
  }
  return *it->second.executor;
}

void Session::State::report() {
  model.executor->collect_fallbacks(fallbacks);
  std::size_t count = 0;
  for (const Fallback& f : fallbacks) count += f.by_nature ? 0 : 1;
  if (count == 0) return;
  if (!options.allow_fallback) {
    throw Error(ErrorKind::unsupported,
                std::to_string(count) + " node(s) cannot run on " + spec.backend +
                    " and fallback is refused:" + fallback_table(fallbacks),
                "leave out --no-fallback to run them on the CPU, or choose another backend");
  }
  const std::string line = spec.backend + ": " + std::to_string(count) +
                           " node(s) run on the CPU instead (see --verbose or the report)";
  if (options.log) {
    options.log(line);
  } else {
    std::cerr << "concord: " << line << "\n";
  }
}

Session::Session(std::shared_ptr<const Graph> imported, const BackendSpec& spec,
                 const SessionOptions& options)
    : state_(std::make_unique<State>()) {
  state_->spec = spec;
  state_->options = options;
  state_->context = std::make_shared<ExecutorContext>();
  state_->context->backend = open_backend(spec);
  state_->context->options = spec.options;
  state_->context->allow_fallback = options.allow_fallback;
  if (state_->context->backend->name() == "cpu") {
    state_->context->cpu = state_->context->backend;
  } else {
    BackendSpec cpu;
    cpu.text = cpu.backend = "cpu";
    cpu.options.threads = spec.options.threads;
    state_->context->open_cpu = [cpu] { return open_backend(cpu); };
  }
  state_->ties = graph::shape_ties(*imported);
  for (const ValueId id : imported->inputs) {
    if (!imported->value(id).shape) state_->any_rank = true;
  }
  if (state_->any_rank && !state_->context->backend->is_interpreter()) {
    state_->model.imported = imported;
    state_->model.optimised = std::move(imported);
    return;  // compiled when the ranks are known
  }
  state_->any_rank = false;
  state_->model = state_->compile(std::move(imported));
  state_->report();
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::vector<Tensor> Session::run(const std::map<std::string, Tensor>& inputs,
                                 const RunOptions& options) {
  const Graph& graph = *state_->model.imported;
  std::vector<Tensor> ordered(graph.inputs.size());
  for (const auto& [name, tensor] : inputs) {
    bool found = false;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      if (graph.value(graph.inputs[i]).name != name) continue;
      ordered[i] = tensor;
      found = true;
    }
    if (!found) {
      throw Error(ErrorKind::usage, "the model has no input '" + name + "'", wanted(graph));
    }
  }
  return run(ordered, options);
}

std::vector<Tensor> Session::run(std::span<const Tensor> inputs, const RunOptions& options) {
  check_inputs(*state_->model.imported, inputs);
  state_->check_ties(inputs);
  return state_->executor(inputs).run(inputs, {}, options);
}

void Session::prepare(const Bindings& bindings) {
  if (state_->model.executor) state_->model.executor->prepare(bindings);
}

const Graph& Session::imported() const {
  return *state_->model.imported;
}
const Graph& Session::optimised() const {
  return *state_->model.optimised;
}
const std::vector<Fallback>& Session::fallbacks() const {
  return state_->fallbacks;
}
Backend& Session::backend() const {
  return *state_->context->backend;
}
const BackendSpec& Session::spec() const {
  return state_->spec;
}

MemoryUse Session::memory() const {
  return state_->model.executor ? state_->model.executor->memory() : MemoryUse{};
}

std::string Session::describe() const {
  std::string text;
  for (const Fallback& f : state_->fallbacks) {
    text += "not on " + state_->spec.backend + (f.by_nature ? " (host by nature): " : ": ") +
            (f.name.empty() ? f.op : f.name + " (" + f.op + ")") + ": " + f.reason + "\n";
  }
  if (state_->model.executor) text += state_->model.executor->describe();
  return text;
}

}  // namespace concord
