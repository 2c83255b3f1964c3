#include "parity/examine.h"

#include <algorithm>
#include <cmath>

#include "backends/ranks.h"
#include "backends/session.h"
#include "parity/judge.h"

namespace concord::parity {

using graph::Graph;

Verdict Examination::verdict() const {
  if (failed) {
    return failed->kind() == ErrorKind::unsupported ? Verdict::unsupported : Verdict::failed;
  }
  Verdict result = Verdict::agrees;
  for (const OutputReport& output : output_reports) result = worst(result, output.verdict);
  return result;
}

double squared_error(const std::vector<Tensor>& outputs, const std::vector<Tensor>& reference) {
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size() && i < reference.size(); ++i) {
    if (!outputs[i].defined()) continue;
    if (outputs[i].shape() != reference[i].shape()) return INFINITY;
    const Metrics metrics = compare(outputs[i], reference[i]);
    if (is_float(outputs[i].dtype())) {
      if (metrics.mismatched > 0) return INFINITY;
      sum += metrics.nmse;
    } else if (metrics.count > 0) {
      sum += static_cast<double>(metrics.mismatched) / static_cast<double>(metrics.count);
    }
  }
  return sum;
}

Examination examine(const std::shared_ptr<const Graph>& imported, const WorkerJob& job,
                    Worker& worker, OraclePass& oracle, bool outputs) {
  Examination result;
  try {
    const BackendSpec spec = parse_spec(job.spec);
    worker.ready();
    const WorkerRun plain = worker.run(oracle.inputs(), false);
    const WorkerRun tapped = worker.run(oracle.inputs(), true);
    result.worker_steps = worker.steps(0);
    result.optimised = optimise_for(imported, spec, job.disabled_passes);
    result.outputs = plain.outputs;
    result.taps_changed_outputs =
        !std::equal(plain.outputs.begin(), plain.outputs.end(), tapped.outputs.begin(),
                    tapped.outputs.end(), identical);
    const StepOptions options{job.exact, outputs ? &oracle.choices() : nullptr};
    result.steps = judge_steps(*imported, *result.optimised, result.worker_steps, tapped.taps,
                               oracle.inputs(), options);
    if (outputs) {
      const std::vector<Tensor>& wanted = oracle.outputs();
      const std::vector<double>& noise = oracle.noise(*result.optimised, result.worker_steps);
      for (std::size_t i = 0; i < imported->outputs.size() && i < plain.outputs.size(); ++i) {
        const graph::Value& value = imported->value(imported->outputs[i]);
        result.output_reports.push_back(judge_output(value.name, plain.outputs[i], value.dtype,
                                                     wanted.at(i), noise.at(i),
                                                     oracle.tolerance_of(value.name)));
      }
      excuse_branches(*result.optimised, result.steps, result.output_reports);
      result.squared_error = squared_error(plain.outputs, wanted);
    }
  } catch (const Error& error) {
    result = Examination();
    result.failed = error;
  }
  return result;
}

Examination examine(const std::shared_ptr<const Graph>& imported, const WorkerJob& job,
                    OraclePass& oracle, bool outputs) {
  try {
    WorkerJob ranked = job;
    ranked.ranks = ranks_of(oracle.inputs());
    Worker worker(ranked);
    return examine(with_ranks(imported, ranked.ranks), ranked, worker, oracle, outputs);
  } catch (const Error& error) {
    Examination result;
    result.failed = error;
    return result;
  }
}

}  // namespace concord::parity
