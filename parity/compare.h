#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/spec.h"
#include "graph/graph.h"
#include "parity/judge.h"
#include "parity/report.h"
#include "parity/worker.h"

namespace concord::parity {

struct CompareOptions {
  std::vector<BackendSpec> specs;
  // Told of specs that do not start, which are then left out; without it they are failures.
  std::function<void(const std::string& line)> skip;
  std::optional<BackendSpec> reference;         // instead of the float64 oracle
  std::optional<Tolerance> tolerance;           // for every output
  std::map<std::string, Tolerance> tolerances;  // by output name; before `tolerance`
  bool per_step = false;
  int repeat = 0;  // run each participant so many times more and compare bit by bit
  bool measure = true;
  MeasureOptions measuring;
  // Told what is going on, with a fraction done; for a terminal.
  std::function<void(const std::string& what, double fraction)> progress;
};

// One set of inputs, as compare_model takes it.
struct CompareCase {
  std::string label;
  std::string data;  // "generated, seed 0", or where the inputs come from
  Bindings dims;
  std::vector<Tensor> inputs;              // in the model's order
  std::map<std::string, Tensor> expected;  // outputs of the data set; may be empty
};

// Runs every participant on every case and judges it. `job` says how workers load the model (its
// spec is overwritten). A participant that fails is a verdict in the report.
std::vector<CaseReport> compare_model(const std::shared_ptr<const graph::Graph>& imported,
                                      const WorkerJob& job, const std::vector<CompareCase>& cases,
                                      const CompareOptions& options);

}  // namespace concord::parity
