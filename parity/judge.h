#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "parity/report.h"

namespace concord::parity {

struct Tolerance {
  double atol = 0;
  double rtol = 0;
};

// --- outputs
// ---------------------------------------------------------------------------------------

// Judges an output against the reference (f64 for floats). With a tolerance: |error| ≤ atol +
// rtol·|reference| for every element. Else rms(error) ≤ 4 × the rms of honest noise; integers,
// strings and booleans must be equal.
OutputReport judge_output(const std::string& name, const Tensor& actual, DataType declared,
                          const Tensor& reference, double noise_rms,
                          const std::optional<Tolerance>& tolerance);

// --- steps
// -----------------------------------------------------------------------------------------

// Judges every step whose outputs were tapped: the oracle computes it from the inputs that the
// backend itself gave it, so that what is found is this step's own error. `inputs` are the model's.
// With `exact`, a step that has nothing to round (exact.h) has no budget.
std::vector<StepReport> judge_steps(const graph::Graph& imported, const graph::Graph& optimised,
                                    const std::vector<WorkerStep>& steps,
                                    const std::map<TapKey, Tensor>& taps,
                                    const std::vector<Tensor>& inputs, bool exact = false);

}  // namespace concord::parity
