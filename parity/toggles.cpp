#include "parity/toggles.h"

#include <algorithm>
#include <cmath>

#include "backends/session.h"
#include "graph/passes.h"

namespace concord::parity {
namespace {

// Passes without which the optimised graph is another one.
std::vector<std::string> passes_at_work(const graph::Graph& imported, const WorkerJob& job) {
  const BackendSpec spec = parse_spec(job.spec);
  const auto alias = std::shared_ptr<const graph::Graph>(&imported, [](const graph::Graph*) {});
  const std::string with = dump(*optimise_for(alias, spec, job.disabled_passes));
  std::vector<std::string> names;
  for (const graph::Pass& pass : graph::passes()) {
    const std::string name(pass.name);
    if (job.disabled_passes.contains(name) || (pass.fusion && !spec.fusion)) continue;
    std::set<std::string> without = job.disabled_passes;
    without.insert(name);
    if (dump(*optimise_for(alias, spec, without)) != with) names.push_back(name);
  }
  return names;
}

bool has_small_floats(const graph::Graph& graph) {
  for (const graph::NodeId id : graph.order()) {
    for (const graph::ValueId output : graph.node(id).outputs) {
      if (!output.valid()) continue;
      const DataType dtype = graph.value(output).dtype;
      if (dtype == DataType::f16 || dtype == DataType::bf16) return true;
    }
  }
  return false;
}

// How much of the squared error is gone.
double removed(double before, double after) {
  if (before == 0) return 0;
  if (std::isinf(before)) return std::isinf(after) ? 0 : 1;
  return 1 - after / before;
}

}  // namespace

std::string with_key(const std::string& spec, const std::string& key, const std::string& value) {
  const std::size_t colon = spec.find(':');
  std::string text = spec.substr(0, colon) + ":" + key + "=" + value;
  if (colon == std::string::npos) return text;
  std::size_t start = colon + 1;
  while (start <= spec.size()) {
    const std::size_t end = std::min(spec.find(',', start), spec.size());
    const std::string item = spec.substr(start, end - start);
    if (!item.starts_with(key + "=")) text += "," + item;
    start = end + 1;
  }
  return text;
}

std::vector<Toggle> toggles_of(const graph::Graph& imported, const WorkerJob& job) {
  const BackendSpec spec = parse_spec(job.spec);
  std::vector<Toggle> toggles;
  const auto add_key = [&](const std::string& key, const std::string& value) {
    Toggle toggle{key + "=" + value, job};
    toggle.job.spec = with_key(job.spec, key, value);
    toggles.push_back(std::move(toggle));
  };
  if (spec.backend == "reference") return toggles;
  if (spec.fusion) add_key("fusion", "off");
  for (const std::string& pass : passes_at_work(imported, job)) {
    Toggle toggle{pass + " off", job};
    toggle.job.disabled_passes.insert(pass);
    toggles.push_back(std::move(toggle));
  }
  const Precision precision = spec.options.precision;
  if (precision == Precision::model ? has_small_floats(imported) : precision != Precision::f32) {
    add_key("precision", "f32");
  }
  if (spec.options.threads != 1) add_key("threads", "1");
  if (spec.backend == "cpu" && spec.options.isa != "avx2") add_key("isa", "avx2");
  if (spec.backend == "cuda" || spec.backend == "cpu") {
    const bool library = spec.options.matmul == MatmulSource::automatic
                             ? spec.backend == "cuda"
                             : spec.options.matmul == MatmulSource::library;
    add_key("matmul", library ? "portable" : "library");
  }
  if (spec.backend == "cuda" || spec.backend == "vulkan") {
    add_key("replay", spec.options.replay ? "off" : "on");
  }
  return toggles;
}

std::vector<ToggleReport> try_toggles(const std::shared_ptr<const graph::Graph>& imported,
                                      const WorkerJob& job, const Examination& before,
                                      OraclePass& oracle,
                                      const std::function<void(const std::string&)>& progress) {
  std::vector<ToggleReport> reports;
  for (const Toggle& toggle : toggles_of(*imported, job)) {
    if (progress) progress(toggle.name);
    const Examination after = examine(imported, toggle.job, oracle, true);
    ToggleReport report;
    report.name = toggle.name;
    report.verdict = after.verdict();
    if (after.failed) {
      report.error = after.failed->what();
    } else {
      report.squared_error = after.squared_error;
      report.removed = before.failed ? 1 : removed(before.squared_error, after.squared_error);
      for (const StepReport& step : after.steps) {
        report.worst_budget = std::max(report.worst_budget, step.worst_budget);
      }
      report.cures = after.fault() == nullptr && report.verdict <= Verdict::branched;
    }
    reports.push_back(std::move(report));
  }
  if (before.taps_changed_outputs) {
    ToggleReport report;
    report.name = "taps";
    report.verdict = before.verdict();
    report.squared_error = before.squared_error;
    report.error = *before.taps_changed_outputs ? "outputs differ when steps are watched" : "";
    reports.push_back(std::move(report));
  }
  return reports;
}

std::set<std::string> cures(const std::vector<ToggleReport>& toggles) {
  std::set<std::string> names;
  for (const ToggleReport& toggle : toggles) {
    if (toggle.cures) names.insert(toggle.name);
  }
  return names;
}

}  // namespace concord::parity
