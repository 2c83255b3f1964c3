#include <algorithm>
#include <cmath>

#include "backends/reference/budget.h"
#include "backends/reference/oracle.h"
#include "parity/bodies.h"
#include "parity/judge.h"
#include "parity/non_finite.h"
#include "parity/step_oracle.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::ValueId;
using reference::OracleValue;

constexpr std::int64_t kNeighbours = 2;

class StepJudge {
 public:
  StepJudge(const Graph& imported, const Graph& optimised, const std::map<TapKey, Tensor>& taps,
            const std::vector<Tensor>& inputs)
      : imported_(imported), oracle_(optimised, taps, inputs) {}

  StepReport judge(const WorkerStep& step) const {
    StepReport report = describe(step);
    if (oracle_.body(step) == nullptr) return report;
    const Node& node = oracle_.node(step);
    const std::vector<Tensor> results = oracle_.results(step);
    if (std::none_of(results.begin(), results.end(), [](const Tensor& t) { return t.defined(); })) {
      return report;
    }
    const auto operands = oracle_.operands(step);
    if (!operands) return report;
    const auto wanted = oracle_.evaluate(step, *operands);
    if (!wanted) return report;
    for (std::size_t i = 0; i < results.size() && i < wanted->size(); ++i) {
      if (!results[i].defined()) continue;
      const DataType declared = oracle_.body(step)->value(node.outputs[i]).dtype;
      const Tensor undefined =
          node.op == OpKind::cast ? undefined_casts((*operands)[0], results[i]) : Tensor();
      compare_output(results[i], declared, (*wanted)[i], undefined, step.precision.store, report);
      if (!report.origin) {
        report.origin = origin_of_non_finite(*operands, results[i], (*wanted)[i].value);
      }
      note_headroom(results[i], report);
    }
    return report;
  }

 private:
  std::string typed(const Graph& graph, const BodyPath& path, ValueId id) const {
    if (!id.valid()) return "-";
    const auto shape = oracle_.shape_of(graph, path, id);
    return std::string(concord::to_string(graph.value(id).dtype)) +
           (shape ? concord::to_string(*shape) : "[?]");
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
    const Graph* body = oracle_.body(step);
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
  static Tensor undefined_casts(const Tensor& from, const Tensor& to) {
    if (!is_float(from.dtype()) || !is_integer(to.dtype())) return {};
    const bool is_signed = is_signed_integer(to.dtype());
    const double top = std::ldexp(1.0, bits(to.dtype()) - (is_signed ? 1 : 0));
    Tensor marks;
    for (std::int64_t i = 0; i < to.count(); ++i) {
      const double v = from.at_double(i);
      if (v < top && v > (is_signed ? -top - 1 : -1.0)) continue;
      if (!marks.defined()) marks = Tensor::zeros(DataType::boolean, to.shape());
      marks.as_mutable<bool>()[static_cast<std::size_t>(i)] = true;
    }
    return marks;
  }

  // |error| / B of an element that is finite on both sides and not equal.
  static double share_of_budget(double actual, double y, std::int64_t i, const OracleValue& wanted,
                                DataType dtype, DataType store) {
    const double sigma = wanted.sigma.defined() ? wanted.sigma.at_double(i) : 0;
    const double error = std::abs(actual - y);
    if (is_float(dtype)) {
      const double budget = reference::budget(y, sigma, store);
      return budget > 0 ? error / budget : INFINITY;
    }
    if (!wanted.unrounded.defined()) return INFINITY;
    const double q = wanted.unrounded.at_double(i);
    if (reference::quantised_within(actual, q, sigma, dtype)) return 0;
    // In quanta: how far the number that was rounded lies from what would round to this integer,
    // against the λσ that it may.
    const double distance = std::abs(actual - q) - 0.5;
    return sigma > 0 ? std::max(distance / (reference::kLambda * sigma), 1.0 + 1e-9) : INFINITY;
  }

  static void fail(StepVerdict verdict, StepReport& report) {
    report.judged = true;
    report.verdict = verdict;
    report.worst_budget = INFINITY;
  }

  static void compare_output(const Tensor& actual, DataType declared, const OracleValue& wanted,
                             const Tensor& undefined, DataType store, StepReport& report) {
    if (declared != DataType::undefined && actual.dtype() != declared) {
      return fail(StepVerdict::type, report);
    }
    if (actual.shape() != wanted.value.shape()) return fail(StepVerdict::shape, report);
    if (actual.dtype() == DataType::string || is_container(actual.dtype())) return;
    report.judged = true;
    const bool floats = is_float(actual.dtype());
    const Tensor rounded = floats && wanted.overflow ? wanted.rounded() : Tensor();
    for (std::int64_t i = 0; i < actual.count(); ++i) {
      if (undefined.defined() && undefined.at_int(i) != 0) continue;
      const double a = actual.at_double(i);
      double y = wanted.value.at_double(i);
      if (rounded.defined() && std::isinf(rounded.at_double(i))) y = rounded.at_double(i);
      const bool lost = !std::isfinite(a) || !std::isfinite(y);
      if (a == y || (std::isnan(a) && std::isnan(y))) continue;
      double ratio = INFINITY;
      if (!lost) {
        ratio = share_of_budget(a, y, i, wanted, actual.dtype(), store);
        report.max_abs = std::max(report.max_abs, std::abs(a - y));
        if (floats) {
          report.max_ulp = std::max(report.max_ulp, std::abs(a - y) / ulp_of(actual.dtype(), y));
        }
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

  static void note_headroom(const Tensor& result, StepReport& report) {
    if (result.dtype() != DataType::f16) return;
    constexpr double top = 65504;
    double largest = report.largest.value_or(0);
    for (std::int64_t i = 0; i < result.count(); ++i) {
      const double v = std::abs(result.at_double(i));
      if (std::isfinite(v)) largest = std::max(largest, v);
    }
    report.largest = largest;
    report.headroom = largest > 0 ? top / largest : INFINITY;
  }

  const Graph& imported_;
  StepOracle oracle_;
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
