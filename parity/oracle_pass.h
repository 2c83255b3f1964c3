#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/reference/oracle.h"
#include "graph/graph.h"
#include "parity/judge.h"
#include "parity/worker.h"

namespace concord::parity {

constexpr int kNoiseRuns = 3;

// What an output may differ by, where that is given: by the output's name.
using ToleranceOf = std::function<std::optional<Tolerance>(const std::string& output)>;

// What the float64 oracle says of one model on one set of inputs.
class OraclePass {
 public:
  // `progress` is called with a fraction of the pass at hand.
  OraclePass(std::shared_ptr<const graph::Graph> imported, std::vector<Tensor> inputs,
             std::function<void(double)> progress = {});

  // Outputs in the model's order; float64 for floats, with infinity where the declared type has no
  // such number.
  const std::vector<Tensor>& outputs();

  // Rms, per output, of the noise that honest rounding makes: the oracle runs K = 3 times more with
  // σ·N(0, 1) added to what each step stores, at the steps' precisions. One set of precisions is
  // computed once. `optimised` is the graph that the steps belong to.
  const std::vector<double>& noise(const graph::Graph& optimised,
                                   const std::vector<WorkerStep>& steps);

  // What is not float in the oracle's run, by value of the imported graph.
  const std::map<int, Tensor>& choices();

  // Outputs are judged by these tolerances rather than by the noise.
  void allow(ToleranceOf tolerance) { tolerance_ = std::move(tolerance); }
  std::optional<Tolerance> tolerance_of(const std::string& output) const {
    return tolerance_ ? tolerance_(output) : std::nullopt;
  }

  const std::vector<Tensor>& inputs() const { return inputs_; }
  const graph::Graph& imported() const { return *imported_; }

 private:
  using ByNode = std::map<int, StepPrecision>;
  using ByGraph = std::map<const graph::Graph*, ByNode>;

  std::vector<Tensor> run(const ByGraph* precisions, std::uint64_t seed);

  std::shared_ptr<const graph::Graph> imported_;
  std::vector<Tensor> inputs_;
  std::function<void(double)> progress_;
  ToleranceOf tolerance_;
  std::vector<Tensor> outputs_;
  std::map<int, Tensor> choices_;
  bool done_ = false;
  std::map<std::string, std::vector<double>> noise_;
};

}  // namespace concord::parity
