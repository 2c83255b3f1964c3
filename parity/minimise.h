#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "parity/examine.h"
#include "parity/report.h"
#include "parity/worker.h"

namespace concord::parity {

// What a failure is known by: a smaller model that fails otherwise has not kept it.
struct Signature {
  enum class Kind : std::uint8_t { none, step, output, crash } kind = Kind::none;
  std::string op;       // of the first faulty step
  std::string verdict;  // of that step, or of the output
  std::string crash;    // "crashed with signal 11", or the kind of error

  friend bool operator==(const Signature&, const Signature&) = default;
  std::string text() const;  // "step matmul over budget"
};
Signature signature_of(const Examination& examination);

struct MinimiseOptions {
  std::filesystem::path folder;           // where the result is written
  std::vector<std::string> command_tail;  // options that belong to the run, for the command
  int most_candidates = 400;
  bool toggles = true;    // also keep which toggles cure it
  ToleranceOf tolerance;  // of the model's outputs, and of a part's of these names
  std::function<void(int tried)> progress;
};

// Cuts the model down to the smallest part (and, where its sizes are symbolic, the smallest sizes)
// that still fails with the signature of `failure`, and writes it to the folder. Borders of the
// part get the oracle's values. `cured_by`: toggles that cure the whole model.
MinimalReport minimise(const std::shared_ptr<const graph::Graph>& imported, const WorkerJob& job,
                       const std::vector<Tensor>& inputs, const Examination& failure,
                       const std::set<std::string>& cured_by, const MinimiseOptions& options);

}  // namespace concord::parity
