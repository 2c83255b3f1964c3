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

// What is not float in the oracle's own run, by value of the imported graph: what it chose.
using Choices = std::map<int, Tensor>;

struct StepOptions {
  bool exact = false;                // a step that has nothing to round (exact.h) has no budget
  const Choices* choices = nullptr;  // to tell which steps branch
};

// Judges every step whose outputs were tapped: the oracle computes it from the inputs that the
// backend itself gave it, so that what is found is this step's own error. `inputs` are the model's.
std::vector<StepReport> judge_steps(const graph::Graph& imported, const graph::Graph& optimised,
                                    const std::vector<WorkerStep>& steps,
                                    const std::map<TapKey, Tensor>& taps,
                                    const std::vector<Tensor>& inputs,
                                    const StepOptions& options = {});

// An output that diverged behind a step that branched, while no step is over budget, is branched
// too: rounding may make the choice either way, and what follows is another way through the model.
void excuse_branches(const graph::Graph& optimised, const std::vector<StepReport>& steps,
                     std::vector<OutputReport>& outputs);

}  // namespace concord::parity
