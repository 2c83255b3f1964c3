#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/spec.h"
#include "graph/error.h"
#include "graph/graph.h"
#include "parity/oracle_pass.h"
#include "parity/report.h"
#include "parity/worker.h"

namespace concord::parity {

// One run of one spec, judged: what toggling, minimising and the fault campaign build on.
struct Examination {
  std::optional<Error> failed;  // it crashed, hung or refused; nothing below then
  std::vector<Tensor> outputs;
  std::vector<OutputReport> output_reports;
  std::vector<StepReport> steps;
  std::vector<WorkerStep> worker_steps;
  std::shared_ptr<const graph::Graph> optimised;
  std::optional<bool> taps_changed_outputs;
  // Σ over the outputs of their normalised squared error against the oracle; infinite if one is
  // not finite where the oracle is, or has another shape.
  double squared_error = 0;

  // What is wrong, at its first sign.
  const StepReport* fault() const { return first_fault(steps); }
  Verdict verdict() const;
};

// Runs `job` (with its spec) in a worker of its own. With `outputs`, the outputs are judged too,
// which takes the oracle's noise runs.
Examination examine(const std::shared_ptr<const graph::Graph>& imported, const WorkerJob& job,
                    OraclePass& oracle, bool outputs);
// The same on a worker that runs already.
Examination examine(const std::shared_ptr<const graph::Graph>& imported, const WorkerJob& job,
                    Worker& worker, OraclePass& oracle, bool outputs);

// Σ error² / Σ reference² of a run's outputs.
double squared_error(const std::vector<Tensor>& outputs, const std::vector<Tensor>& reference);

}  // namespace concord::parity
