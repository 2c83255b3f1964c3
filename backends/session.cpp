#include "backends/session.h"

#include <atomic>
#include <iostream>
#include <mutex>

#include "backends/check_input.h"
#include "backends/executor.h"
#include "backends/ranks.h"
#include "backends/reference/oracle.h"
#include "backends/registry.h"
#include "backends/session_states.h"
#include "graph/error.h"
#include "graph/passes.h"
#include "graph/shape_ties.h"

namespace concord {
namespace {

using graph::Graph;
using graph::ValueId;

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
  if (spec.backend == "cpu") {
    passes.chain_operands = 24;
  } else {
    passes.quantised_products = false;
  }
  return std::make_shared<const Graph>(graph::optimise(*imported, passes));
}

struct Session::State {
  BackendSpec spec;
  SessionOptions options;
  std::shared_ptr<ExecutorContext> context;
  std::shared_ptr<const Graph> imported;
  std::shared_ptr<const Graph> optimised;
  std::unique_ptr<Executor> executor;
  std::vector<Fallback> fallbacks;
  std::vector<graph::ShapeTie> ties;  // of the imported graph
  SessionStates states;
  std::mutex states_mutex;              // where there are states, a run holds it
  std::atomic<bool> has_plans = false;  // bind_state comes too late
  std::atomic<bool> has_states = false;

  // Extents that the model's nodes need to be equal, though its inputs name them apart.
  void check_ties(std::span<const Tensor> inputs) const {
    if (ties.empty()) return;
    if (const auto problem = graph::contradiction(ties, bindings_of(*imported, inputs))) {
      throw Error(ErrorKind::usage, *problem, "give inputs whose shapes fit together");
    }
  }

  std::vector<Tensor> run_with_states(std::span<const Tensor> inputs, const RunOptions& how) {
    const std::lock_guard lock(states_mutex);
    try {
      const std::vector<Tensor> all = states.inputs(*imported, ties, inputs);
      check_inputs(*imported, all);
      check_ties(all);
      std::vector<Tensor> outputs = executor->run(all, {}, how, states.areas());
      states.take(outputs);
      return outputs;
    } catch (...) {
      states.undo();
      throw;
    }
  }

  void report();
};

void Session::State::report() {
  executor->collect_fallbacks(fallbacks);
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
    cpu.options.isa = spec.options.isa;
    state_->context->open_cpu = [cpu] { return open_backend(cpu); };
  }
  const bool interprets = state_->context->backend->is_interpreter();
  if (const graph::Value* open = input_of_any_rank(*imported); open != nullptr && !interprets) {
    throw Error(ErrorKind::usage,
                "input '" + open->name + "' may have any rank, and a session needs to know it",
                "bind the graph to its inputs' ranks first: with_ranks(graph, ranks_of(inputs))");
  }
  state_->ties = graph::shape_ties(*imported);
  state_->imported = imported;
  state_->optimised = interprets ? std::move(imported)
                                 : optimise_for(std::move(imported), spec, options.disabled_passes);
  state_->executor = std::make_unique<Executor>(state_->optimised, state_->context);
  state_->report();
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::vector<Tensor> Session::run(const std::map<std::string, Tensor>& inputs,
                                 const RunOptions& options) {
  const Graph& graph = *state_->imported;
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
  if (state_->has_states) {
    state_->has_plans = true;
    return state_->run_with_states(inputs, options);
  }
  check_inputs(*state_->imported, inputs);
  state_->check_ties(inputs);
  state_->has_plans = true;
  return state_->executor->run(inputs, {}, options);
}

void Session::bind_state(const std::string& output, const std::string& input) {
  const std::lock_guard lock(state_->states_mutex);
  if (state_->has_plans) {
    throw Error(ErrorKind::usage, "bind_state('" + output + "', '" + input + "') comes too late",
                "bind states before the session first runs or is prepared");
  }
  state_->states.bind(*state_->imported, *state_->executor, output, input);
  state_->has_states = true;
}

void Session::set_state(const std::string& input, const Tensor& value) {
  const std::lock_guard lock(state_->states_mutex);
  state_->states.set(*state_->imported, input, value);
}

Tensor Session::state(const std::string& input) const {
  const std::lock_guard lock(state_->states_mutex);
  return state_->states.get(*state_->imported, input);
}

void Session::reset_states() {
  const std::lock_guard lock(state_->states_mutex);
  state_->states.reset();
}

void Session::prepare(const Bindings& bindings) {
  state_->has_plans = true;
  state_->executor->prepare(bindings);
}

const Graph& Session::imported() const {
  return *state_->imported;
}
const Graph& Session::optimised() const {
  return *state_->optimised;
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
  return state_->executor->memory();
}

std::string Session::describe() const {
  std::string text;
  for (const Fallback& f : state_->fallbacks) {
    text += "not on " + state_->spec.backend + (f.by_nature ? " (host by nature): " : ": ") +
            (f.name.empty() ? f.op : f.name + " (" + f.op + ")") + ": " + f.reason + "\n";
  }
  return text + state_->states.describe(*state_->imported) + state_->executor->describe();
}

}  // namespace concord
