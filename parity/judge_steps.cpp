#include <algorithm>
#include <cmath>
#include <set>

#include "backends/reference/budget.h"
#include "backends/reference/oracle.h"
#include "graph/complex.h"
#include "parity/bodies.h"
#include "parity/exact.h"
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
            const std::vector<Tensor>& inputs, const StepOptions& options)
      : imported_(imported),
        optimised_(optimised),
        oracle_(optimised, taps, inputs),
        options_(options) {}

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
    auto wanted = oracle_.evaluate(step, *operands);
    if (!wanted) return report;
    if (options_.exact &&
        is_exact(*oracle_.body(step), node, *operands, oracle_.bindings(), step.precision)) {
      report.exact = true;
      for (OracleValue& value : *wanted) {
        value.sigma = Tensor();
        if (is_float(value.declared)) report.mistrusted = mostly_zero(value.value);
      }
    }
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

  // Whether a step, by its budget, chose what the oracle did not choose in its own run.
  bool branches(const WorkerStep& step) const {
    if (options_.choices == nullptr || !step.path.empty()) return false;
    const Node& node = oracle_.node(step);
    const std::vector<Tensor> results = oracle_.results(step);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].defined() || is_float(results[i].dtype())) continue;
      const graph::Value& value = optimised_.value(node.outputs[i]);
      int imported = node.outputs[i].index;
      if (value.equals) {
        if (!value.equals->perm.empty() || value.equals->reshaped) continue;
        imported = value.equals->imported.index;
      } else if (static_cast<std::size_t>(imported) >= imported_.value_count()) {
        continue;
      }
      const auto chosen = options_.choices->find(imported);
      if (chosen == options_.choices->end()) continue;
      if (chosen->second.dtype() == results[i].dtype() && !identical(chosen->second, results[i])) {
        return true;
      }
    }
    return false;
  }

  // Marks steps that branch and what follows them.
  void mark_branches(const std::vector<WorkerStep>& steps, std::vector<StepReport>& reports) const {
    std::set<ValueId> behind;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!steps[i].path.empty() || oracle_.body(steps[i]) == nullptr) continue;
      const Node& node = oracle_.node(steps[i]);
      const bool follows = std::any_of(node.inputs.begin(), node.inputs.end(),
                                       [&](ValueId id) { return behind.contains(id); });
      if (!follows && !(reports[i].judged && branches(steps[i]))) continue;
      behind.insert(node.outputs.begin(), node.outputs.end());
      if (reports[i].verdict == StepVerdict::within_budget) {
        reports[i].verdict = StepVerdict::branched;
      }
    }
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
    const Tensor given = parts_of(actual);
    const Tensor right = parts_of(wanted.value);
    for (std::int64_t i = 0; i < given.count(); ++i) {
      if (undefined.defined() && undefined.at_int(i) != 0) continue;
      const double a = given.at_double(i);
      double y = right.at_double(i);
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
        report.worst_index = index_text(given, i);
        neighbours(given, right, i, report);
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
  const Graph& optimised_;
  StepOracle oracle_;
  StepOptions options_;
};

}  // namespace

std::vector<StepReport> judge_steps(const Graph& imported, const Graph& optimised,
                                    const std::vector<WorkerStep>& steps,
                                    const std::map<TapKey, Tensor>& taps,
                                    const std::vector<Tensor>& inputs, const StepOptions& options) {
  const StepJudge judge(imported, optimised, taps, inputs, options);
  std::vector<StepReport> reports;
  for (const WorkerStep& step : steps) reports.push_back(judge.judge(step));
  judge.mark_branches(steps, reports);
  return reports;
}

void excuse_branches(const Graph& optimised, const std::vector<StepReport>& steps,
                     std::vector<OutputReport>& outputs) {
  if (first_fault(steps) != nullptr) return;
  const StepReport* branch = nullptr;
  std::set<int> branched;  // nodes
  for (const StepReport& step : steps) {
    if (step.verdict != StepVerdict::branched || !step.path.empty()) continue;
    if (branch == nullptr) branch = &step;
    branched.insert(step.node);
  }
  if (branch == nullptr) return;
  for (std::size_t i = 0; i < outputs.size() && i < optimised.outputs.size(); ++i) {
    const NodeId producer = optimised.value(optimised.outputs[i]).producer;
    if (outputs[i].verdict != Verdict::diverged || !branched.contains(producer.index)) continue;
    outputs[i].verdict = Verdict::branched;
    outputs[i].note += "; it follows the choice of " + branch->op + " '" + branch->name +
                       "', which rounding may make either way";
  }
}

}  // namespace concord::parity
