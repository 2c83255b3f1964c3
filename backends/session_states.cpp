#include "backends/session_states.h"

#include "backends/check_input.h"
#include "graph/error.h"

namespace concord {
namespace {

using graph::Graph;
using graph::Value;
using graph::ValueId;

std::string typed(const Value& value) {
  return "'" + value.name + "' (" + std::string(to_string(value.dtype)) +
         (value.shape ? to_string(*value.shape) : "[any rank]") + ")";
}

std::size_t position(const Graph& graph, const std::vector<ValueId>& list, const char* what,
                     const std::string& name) {
  std::string names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string& other = graph.value(list[i]).name;
    if (other == name) return i;
    names += (names.empty() ? "" : ", ") + other;
  }
  throw Error(ErrorKind::usage, std::string("the model has no ") + what + " '" + name + "'",
              std::string("its ") + what + "s are " + names);
}

}  // namespace

// Throws where what the output is cannot be what the input is in the next run.
int SessionStates::growing_axis(const Value& output, const Value& input) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::usage,
                "output " + typed(output) + " cannot be the state " + typed(input) + ": " + why,
                "bind an output to the input that takes it in the next run");
  };
  if (output.dtype != input.dtype) refuse("their types differ");
  if (!output.shape || !input.shape) refuse("their ranks are not known");
  if (output.shape->size() != input.shape->size()) refuse("their ranks differ");
  int axis = kGrowsNowhere;
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    const Dim& from = (*input.shape)[i];
    const Dim& to = (*output.shape)[i];
    if (from == to) continue;
    if (from.is_constant() && to.is_constant()) {
      refuse("their extents differ on axis " + std::to_string(i));
    }
    if (from.is_constant() || to.is_constant()) continue;
    axis = axis == kGrowsNowhere ? static_cast<int>(i) : kGrowsSomewhere;
  }
  return axis;
}

void SessionStates::State::assign(const Tensor& tensor) {
  if (area) {
    area->assign(tensor);
  } else {
    value = tensor.clone();
  }
}

void SessionStates::State::clear() {
  if (area) area->clear();
  value = Tensor();
  is_new = false;
}

void SessionStates::bind(const Graph& imported, Executor& executor, const std::string& output,
                         const std::string& input) {
  State state;
  state.output = position(imported, imported.outputs, "output", output);
  state.input = position(imported, imported.inputs, "input", input);
  for (const State& other : states_) {
    if (other.input != state.input && other.output != state.output) continue;
    throw Error(ErrorKind::usage,
                other.input == state.input ? "input '" + input + "' is a state already"
                                           : "output '" + output + "' is bound to a state already",
                "bind each input and each output once");
  }
  const Value& from = imported.value(imported.inputs[state.input]);
  state.axis = growing_axis(imported.value(imported.outputs[state.output]), from);
  if (const auto why = executor.keep_state(state.input, state.output)) {
    state.reason = *why;
  } else {
    state.area = std::make_unique<StateArea>();
  }
  states_.push_back(std::move(state));
}

std::size_t SessionStates::number_of(const Graph& imported, const std::string& input) const {
  std::string names;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const std::string& name = imported.value(imported.inputs[states_[i].input]).name;
    if (name == input) return i;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw Error(ErrorKind::usage, "input '" + input + "' is no state",
              names.empty() ? "bind it with bind_state first" : "the states are " + names);
}

void SessionStates::set(const Graph& imported, const std::string& input, const Tensor& value) {
  State& state = states_[number_of(imported, input)];
  Bindings bindings;
  check_input(imported, imported.value(imported.inputs[state.input]), value, bindings);
  state.assign(value);
}

Tensor SessionStates::get(const Graph& imported, const std::string& input) const {
  const State& state = states_[number_of(imported, input)];
  if (!state.is_set()) return {};
  return state.area ? state.area->read() : state.value.clone();
}

void SessionStates::reset() {
  for (State& state : states_) state.clear();
}

Tensor SessionStates::first_value(const Value& input, int axis, const Bindings& bindings) {
  Shape shape;
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    const Dim& dim = (*input.shape)[i];
    const auto extent = static_cast<int>(i) == axis ? std::optional<std::int64_t>(0)
                        : axis == kGrowsSomewhere   ? dim.constant()
                                                    : dim.evaluate(bindings);
    if (!extent) {
      throw Error(ErrorKind::usage,
                  "the state " + typed(input) + " has no value yet, and the other inputs do not " +
                      "tell its extent '" + dim.to_string() + "'",
                  "give it one with set_state, for an empty cache a tensor with an extent of 0");
    }
    shape.push_back(*extent);
  }
  return Tensor::zeros(input.dtype, std::move(shape));
}

std::vector<Tensor> SessionStates::inputs(const Graph& imported,
                                          const std::vector<graph::ShapeTie>& ties,
                                          std::span<const Tensor> given) {
  std::vector<Tensor> all(given.begin(), given.end());
  if (all.size() != imported.inputs.size()) return all;  // the run's check says so
  bool complete = true;
  for (const State& state : states_) {
    if (all[state.input].defined()) {
      throw Error(ErrorKind::usage,
                  "input '" + imported.value(imported.inputs[state.input]).name +
                      "' is a state: a run is not given it",
                  "leave it out, or change it with set_state");
    }
    if (!state.is_set()) {
      complete = false;
    } else {
      all[state.input] = state.given();
    }
  }
  if (complete) return all;
  Bindings bindings;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].defined())
      check_input(imported, imported.value(imported.inputs[i]), all[i], bindings);
  }
  graph::solve_ties(ties, bindings);
  for (State& state : states_) {
    if (state.is_set()) continue;
    const Value& input = imported.value(imported.inputs[state.input]);
    state.assign(first_value(input, state.axis, bindings));
    state.is_new = true;
    all[state.input] = state.given();
  }
  return all;
}

std::vector<StateArea*> SessionStates::areas() {
  std::vector<StateArea*> areas;
  for (State& state : states_) {
    if (state.area) areas.push_back(state.area.get());
  }
  return areas;
}

void SessionStates::take(std::vector<Tensor>& outputs) {
  for (State& state : states_) {
    state.is_new = false;
    if (state.area) {
      state.area->accept();
      continue;
    }
    Tensor& written = outputs[state.output];
    // Memory that the caller can write to through another tensor is not the state's.
    state.value = written.storage().use_count() > 1 ? written.clone() : std::move(written);
    written = Tensor();
  }
}

void SessionStates::undo() {
  for (State& state : states_) {
    if (state.is_new) state.clear();
  }
}

std::string SessionStates::describe(const Graph& imported) const {
  std::string text;
  for (const State& state : states_) {
    text += "state " + imported.value(imported.inputs[state.input]).name + " from " +
            imported.value(imported.outputs[state.output]).name + ": " +
            (state.area ? "kept in place" : "handed on, since " + state.reason) + "\n";
  }
  return text;
}

}  // namespace concord
