#include "tests/ops/op_runner.h"

#include <cmath>
#include <map>

#include "backends/reference/budget.h"
#include "backends/reference/oracle.h"
#include "backends/reference/rounding.h"
#include "backends/session.h"
#include "graph/error.h"
#include "graph/schema.h"

namespace concord::ops_test {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using reference::OracleValue;

struct Model {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  graph::NodeId node;
  std::vector<Tensor> inputs;    // of the graph
  std::vector<Tensor> operands;  // of the node
};

Model make_model(graph::OpKind op, const OpCase& op_case) {
  Model model;
  Node node;
  node.op = op;
  node.attrs = op_case.attrs;
  node.name = op_case.name;
  std::uint64_t seed = 1;
  for (const Operand& operand : op_case.operands) {
    if (operand.dtype == DataType::undefined) {
      node.inputs.emplace_back();
      model.operands.emplace_back();
      continue;
    }
    Tensor tensor = make_tensor(operand, seed++);
    const std::string name = "in" + std::to_string(node.inputs.size());
    if (operand.constant) {
      node.inputs.push_back(model.graph->add_constant(name, tensor));
    } else {
      const Shape& shape = operand.shape;
      node.inputs.push_back(
          model.graph->add_value(name, operand.dtype, SymShape(shape.begin(), shape.end())));
      model.graph->inputs.push_back(node.inputs.back());
      model.inputs.push_back(tensor);
    }
    model.operands.push_back(std::move(tensor));
  }
  for (int i = 0; i < op_case.output_count; ++i) {
    node.outputs.push_back(model.graph->add_value("out" + std::to_string(i), DataType::undefined));
  }
  model.graph->outputs = node.outputs;
  model.node = model.graph->add_node(std::move(node));
  graph::infer(*model.graph, model.node);
  return model;
}

class AllTaps : public TapSink {
 public:
  bool wants(ValueId) const override { return true; }
  void take(ValueId id, Tensor tensor) override { tensors.insert_or_assign(id, std::move(tensor)); }
  std::map<ValueId, Tensor> tensors;
};

std::string place(std::int64_t index, const Shape& shape) {
  std::string text = "]";
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    text = std::to_string(index % shape[axis]) + (text.size() > 1 ? ", " : "") + text;
    index /= shape[axis];
  }
  return "[" + text;
}

// Whether a stored number lies between the roundings of what quantising rounds, ± 6 σ.
bool quantised_right(double stored, double unrounded, double sigma, DataType dtype) {
  if (!is_float(dtype)) return reference::quantised_within(stored, unrounded, sigma, dtype);
  const auto rounded = [&](double x) { return float_from_bits(dtype, float_to_bits(dtype, x)); };
  const double spread = reference::kLambda * sigma;
  return stored >= rounded(unrounded - spread) && stored <= rounded(unrounded + spread);
}

// Empty, or the first element that is not what the oracle allows.
std::string judge(const Tensor& actual, const OracleValue& wanted, DataType store) {
  if (actual.dtype() != wanted.declared) {
    return "type " + std::string(to_string(actual.dtype())) + " instead of " +
           std::string(to_string(wanted.declared));
  }
  if (actual.shape() != wanted.value.shape()) {
    return "shape " + to_string(actual.shape()) + " instead of " + to_string(wanted.value.shape());
  }
  // What is only moved.
  if (is_complex(actual.dtype())) return identical(actual, wanted.value) ? "" : "other bits";
  for (std::int64_t i = 0; i < actual.count(); ++i) {
    std::string expected;
    if (wanted.unrounded.defined()) {
      const double sigma = wanted.sigma.defined() ? wanted.sigma.at_double(i) : 0;
      if (!quantised_right(actual.at_double(i), wanted.unrounded.at_double(i), sigma,
                           actual.dtype())) {
        expected = std::to_string(wanted.unrounded.at_double(i)) + " before rounding";
      }
    } else if (is_float(actual.dtype())) {
      const double y = wanted.value.at_double(i);
      const double x = actual.at_double(i);
      const double sigma = wanted.sigma.defined() ? wanted.sigma.at_double(i) : 0;
      const double bound = reference::budget(y, sigma, store);
      const bool same = (std::isnan(x) && std::isnan(y)) || x == y;
      const bool over = std::isinf(x) && std::signbit(x) == std::signbit(y) &&
                        std::abs(y) + bound >= reference::max_finite(store);
      if (!same && !(std::abs(x - y) <= bound) && !over) {
        expected = std::to_string(y) + " ± " + std::to_string(bound);
      }
    } else if (actual.at_int(i) != wanted.value.at_int(i)) {
      expected = std::to_string(wanted.value.at_int(i));
    }
    if (!expected.empty()) {
      const double x =
          is_float(actual.dtype()) ? actual.at_double(i) : static_cast<double>(actual.at_int(i));
      return "element " + place(i, actual.shape()) + " is " + std::to_string(x) + ", expected " +
             expected;
    }
  }
  return {};
}

std::vector<OracleValue> wanted_outputs(const Model& model, const reference::Numerics& numerics) {
  std::vector<OracleValue> operands;
  for (const Tensor& operand : model.operands) {
    operands.push_back(operand.defined() ? reference::from_tensor(operand) : OracleValue{});
  }
  return reference::evaluate(*model.graph, model.graph->node(model.node), operands, {}, numerics);
}

// Whether only a run can tell the outputs' extents.
bool is_dynamic(const Model& model) {
  for (const ValueId id : model.graph->outputs) {
    const auto& shape = model.graph->value(id).shape;
    if (!shape) return true;
    for (const Dim& dim : *shape) {
      if (dim.has_dynamic()) return true;
    }
  }
  return false;
}

// A session finds out the extents on the way.
std::string run_session(const Backend& backend, const Model& model) {
  SessionOptions options;
  options.log = [](const std::string&) {};
  Session session(model.graph, parse_spec(std::string(backend.name())), options);
  std::vector<SessionStep> steps;
  RunOptions run;
  run.steps = &steps;
  const std::vector<Tensor> outputs = session.run(model.inputs, run);
  reference::Numerics numerics;
  numerics.sigma = true;
  for (const SessionStep& step : steps) {
    if (step.info.node == model.node) numerics.precision = step.info.precision;
  }
  const auto wanted = wanted_outputs(model, numerics);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string wrong = judge(outputs[i], wanted[i], outputs[i].dtype());
    if (!wrong.empty()) return "output " + std::to_string(i) + ": " + wrong;
  }
  return {};
}

// A value that only the run shows to be wrong: an error about the node, on every backend.
std::string run_refused(const std::string& backend, const Model& model, const OpCase& op_case) {
  SessionOptions options;
  options.log = [](const std::string&) {};
  try {
    Session session(model.graph, parse_spec(backend), options);
    session.run(model.inputs);
  } catch (const Error& error) {
    const std::string message = error.what();
    if (error.kind() != ErrorKind::invalid) return "another kind of error: " + message;
    for (const std::string& part : {op_case.name, op_case.refusal}) {
      if (message.find(part) == std::string::npos) {
        return "the error \"" + message + "\" does not say \"" + part + "\"";
      }
    }
    return {};
  }
  return "ran, expected an error that says " + op_case.refusal;
}

std::string run_model(Backend& backend, const Model& model) {
  const std::unique_ptr<Program> program = backend.compile(model.graph, {});
  const std::shared_ptr<const Plan> plan = program->plan({});
  std::vector<Tensor> outputs, again;
  plan->run({.inputs = model.inputs, .outputs = &outputs});
  AllTaps taps;
  std::vector<double> times;
  plan->run({.inputs = model.inputs, .outputs = &again, .taps = &taps, .step_ms = &times});
  if (times.size() != plan->steps().size()) return "a time is missing for a step";

  const Node& node = model.graph->node(model.node);
  reference::Numerics numerics;
  numerics.sigma = true;
  for (const StepInfo& step : plan->steps()) {
    if (step.node == model.node) numerics.precision = step.precision;
  }
  const auto wanted = wanted_outputs(model, numerics);
  if (outputs.size() != node.outputs.size()) return "an output is missing";
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string which = "output " + std::to_string(i) + ": ";
    if (!identical(outputs[i], again[i])) return which + "differs with taps";
    const auto tap = taps.tensors.find(node.outputs[i]);
    if (tap != taps.tensors.end() && !identical(tap->second, again[i])) {
      return which + "its tap differs from it";
    }
    const std::string wrong = judge(outputs[i], wanted[i], outputs[i].dtype());
    if (!wrong.empty()) return which + wrong;
  }
  return {};
}

}  // namespace

Outcome run_case(Backend& backend, graph::OpKind op, const OpCase& op_case) {
  Outcome outcome;
  try {
    const Model model = make_model(op, op_case);
    if (!op_case.refusal.empty()) {
      outcome.failure = run_refused(std::string(backend.name()), model, op_case);
      return outcome;
    }
    if (is_dynamic(model)) {
      outcome.failure = run_session(backend, model);
      return outcome;
    }
    outcome.unsupported = backend.why_unsupported(*model.graph, model.graph->node(model.node));
    if (!outcome.unsupported) outcome.failure = run_model(backend, model);
  } catch (const Error& error) {
    outcome.failure = error.what();
  }
  return outcome;
}

}  // namespace concord::ops_test
