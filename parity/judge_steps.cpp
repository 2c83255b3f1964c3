#include <algorithm>
#include <cmath>

#include "backends/reference/budget.h"
#include "backends/reference/oracle.h"
#include "graph/error.h"
#include "parity/bodies.h"
#include "parity/judge.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::ValueId;
using reference::OracleValue;

constexpr std::int64_t kNeighbours = 2;

// How far an integer may lie from the oracle's: not at all where the step is exact; where it rounds
// a number of spread σ, as far as that number's neighbourhood of λσ reaches over a half.
double quantised_budget(double sigma) {
  return std::ceil(reference::kLambda * sigma);
}

class StepJudge {
 public:
  StepJudge(const Graph& imported, const Graph& optimised, const std::map<TapKey, Tensor>& taps,
            const std::vector<Tensor>& inputs)
      : imported_(imported), optimised_(optimised), taps_(taps), inputs_(inputs) {
    for (std::size_t i = 0; i < inputs.size() && i < optimised.inputs.size(); ++i) {
      bind(optimised, optimised.inputs[i], inputs[i]);
    }
    for (const auto& [key, tensor] : taps) {
      const Graph* body = find_body(optimised, key.first);
      if (body != nullptr) bind(*body, ValueId{key.second}, tensor);
    }
  }

  StepReport judge(const WorkerStep& step) const {
    StepReport report = describe(step);
    const Graph* body = find_body(optimised_, step.path);
    if (body == nullptr) return report;
    const Node& node = body->node(NodeId{step.node});
    if (!node.bodies.empty()) return report;
    std::vector<OracleValue> operands;
    for (const ValueId id : node.inputs) {
      if (!id.valid()) {
        operands.emplace_back();
        continue;
      }
      const auto tensor = find(*body, step.path, id);
      if (!tensor) return report;
      operands.push_back(reference::from_tensor(*tensor));
    }
    bool tapped = false;
    for (const ValueId id : node.outputs) {
      tapped = tapped || (id.valid() && taps_.contains({step.path, id.index}));
    }
    if (!tapped) return report;
    reference::Numerics numerics;
    numerics.precision = step.precision;
    numerics.sigma = true;
    std::vector<OracleValue> wanted;
    try {
      wanted = reference::evaluate(*body, node, operands, bindings_, numerics);
    } catch (const Error&) {
      return report;  // its outputs' verdict tells; the step alone cannot be judged
    }
    for (std::size_t i = 0; i < node.outputs.size() && i < wanted.size(); ++i) {
      if (!node.outputs[i].valid()) continue;
      const auto tap = taps_.find({step.path, node.outputs[i].index});
      if (tap == taps_.end()) continue;
      const Tensor undefined =
          node.op == OpKind::cast ? undefined_casts(operands[0], tap->second) : Tensor();
      compare_output(tap->second, wanted[i], undefined, step.precision.store, report);
    }
    return report;
  }

 private:
  void bind(const Graph& graph, ValueId id, const Tensor& tensor) {
    const auto& shape = graph.value(id).shape;
    if (shape) static_cast<void>(bind_shape(*shape, tensor.shape(), bindings_));
  }

  // The tensor that the backend had for a value: tapped, constant, the model's input, a view of
  // one of these, or what a branch got from outside.
  std::optional<Tensor> find(const Graph& graph, const BodyPath& path, ValueId id) const {
    if (const auto tap = taps_.find({path, id.index}); tap != taps_.end()) return tap->second;
    const graph::Value& value = graph.value(id);
    if (value.constant) return *value.constant;
    const auto input = std::find(graph.inputs.begin(), graph.inputs.end(), id);
    if (input != graph.inputs.end()) {
      const auto index = static_cast<std::size_t>(input - graph.inputs.begin());
      if (path.empty()) return inputs_.at(index);
      const BodyPath outer(path.begin(), path.end() - 1);
      const Graph* parent = find_body(optimised_, outer);
      const Node& node = parent->node(NodeId{path.back().first});
      if (node.op != OpKind::if_then_else) return std::nullopt;
      return find(*parent, outer, node.inputs.at(index + 1));
    }
    if (!value.producer.valid() || !value.shape) return std::nullopt;
    const Node& producer = graph.node(value.producer);
    if (producer.op != OpKind::reshape) return std::nullopt;
    const auto source = find(graph, path, producer.inputs[0]);
    const auto shape = evaluate(*value.shape, bindings_);
    if (!source || !shape || element_count(*shape) != source->count()) return std::nullopt;
    return source->reshaped(*shape);
  }

  std::string typed(const Graph& graph, const BodyPath& path, ValueId id) const {
    if (!id.valid()) return "-";
    const graph::Value& value = graph.value(id);
    std::string text(concord::to_string(value.dtype));
    const auto shape = value.shape ? evaluate(*value.shape, bindings_) : std::nullopt;
    if (shape) return text + concord::to_string(*shape);
    const auto tensor = find(graph, path, id);
    return text + (tensor ? concord::to_string(tensor->shape()) : "[?]");
  }

  StepReport describe(const WorkerStep& step) const {
    StepReport report;
    report.path = step.path;
    report.node = step.node;
    report.backend = step.backend;
    report.kernel = step.kernel;
    report.precision = step.precision;
    report.flops = step.flops;
    report.bytes = step.bytes;
    report.ms = step.ms;
    const Graph* body = find_body(optimised_, step.path);
    const Graph* source = find_body(imported_, step.path);
    if (body == nullptr) return report;
    const Node& node = body->node(NodeId{step.node});
    report.op = graph::to_string(node.op);
    report.name = node.name;
    for (const NodeId id : node.sources) {
      if (source == nullptr || static_cast<std::size_t>(id.index) >= source->node_count()) continue;
      const Node& member = source->node(id);
      report.members.push_back(member.name.empty() ? member.source_op : member.name);
    }
    for (const ValueId id : node.inputs) report.inputs.push_back(typed(*body, step.path, id));
    for (const ValueId id : node.outputs) report.outputs.push_back(typed(*body, step.path, id));
    return report;
  }

  // Marks the elements for which ONNX leaves a cast's result open: floats that are not finite or
  // do not fit the integer type. Undefined if there are none.
  static Tensor undefined_casts(const OracleValue& from, const Tensor& to) {
    if (!is_float(from.declared) || !is_integer(to.dtype())) return {};
    const bool is_signed = is_signed_integer(to.dtype());
    const double top = std::ldexp(1.0, bits(to.dtype()) - (is_signed ? 1 : 0));
    Tensor marks;
    for (std::int64_t i = 0; i < to.count(); ++i) {
      const double v = from.value.at_double(i);
      if (v < top && v > (is_signed ? -top - 1 : -1.0)) continue;
      if (!marks.defined()) marks = Tensor::zeros(DataType::boolean, to.shape());
      marks.as_mutable<bool>()[static_cast<std::size_t>(i)] = true;
    }
    return marks;
  }

  static void compare_output(const Tensor& actual, const OracleValue& wanted,
                             const Tensor& undefined, DataType store, StepReport& report) {
    if (actual.shape() != wanted.value.shape()) {
      report.judged = true;
      report.verdict = StepVerdict::over_budget;
      report.worst_budget = INFINITY;
      return;
    }
    if (actual.dtype() == DataType::string) return;
    report.judged = true;
    const bool floats = is_float(actual.dtype());
    const bool sigma = wanted.sigma.defined();
    const Tensor rounded = floats && wanted.overflow ? wanted.rounded() : Tensor();
    for (std::int64_t i = 0; i < actual.count(); ++i) {
      if (undefined.defined() && undefined.at_int(i) != 0) continue;
      const double a = actual.at_double(i);
      double y = wanted.value.at_double(i);
      if (rounded.defined() && std::isinf(rounded.at_double(i))) y = rounded.at_double(i);
      double ratio = 0;
      bool lost = false;
      if (!std::isfinite(a) || !std::isfinite(y)) {
        const bool agree = (std::isnan(a) && std::isnan(y)) || a == y;
        if (agree) continue;
        lost = true;
        ratio = INFINITY;
      } else {
        const double error = std::abs(a - y);
        if (error == 0) continue;
        const double spread = sigma ? wanted.sigma.at_double(i) : 0;
        const double budget =
            floats ? reference::budget(y, spread, store) : quantised_budget(spread);
        ratio = budget > 0 ? error / budget : INFINITY;
        report.max_abs = std::max(report.max_abs, error);
        if (floats) report.max_ulp = std::max(report.max_ulp, error / ulp_of(actual.dtype(), y));
      }
      if (!(ratio <= 1)) {
        ++report.over;
        report.verdict =
            std::max(report.verdict, lost ? StepVerdict::non_finite : StepVerdict::over_budget);
      }
      if (ratio > report.worst_budget) {
        report.worst_budget = ratio;
        report.worst = {i, a, y};
        report.worst_index = index_text(actual, i);
        neighbours(actual, wanted.value, i, report);
      }
    }
  }

  static void neighbours(const Tensor& actual, const Tensor& wanted, std::int64_t index,
                         StepReport& report) {
    report.around.clear();
    report.around_reference.clear();
    const std::int64_t first = std::max<std::int64_t>(index - kNeighbours, 0);
    const std::int64_t last = std::min(index + kNeighbours, actual.count() - 1);
    for (std::int64_t i = first; i <= last; ++i) {
      report.around.push_back(actual.at_double(i));
      report.around_reference.push_back(wanted.at_double(i));
    }
  }

  const Graph& imported_;
  const Graph& optimised_;
  const std::map<TapKey, Tensor>& taps_;
  const std::vector<Tensor>& inputs_;
  Bindings bindings_;
};

}  // namespace

std::vector<StepReport> judge_steps(const Graph& imported, const Graph& optimised,
                                    const std::vector<WorkerStep>& steps,
                                    const std::map<TapKey, Tensor>& taps,
                                    const std::vector<Tensor>& inputs) {
  const StepJudge judge(imported, optimised, taps, inputs);
  std::vector<StepReport> reports;
  for (const WorkerStep& step : steps) reports.push_back(judge.judge(step));
  return reports;
}

}  // namespace concord::parity
