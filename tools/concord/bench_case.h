#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "backends/spec.h"
#include "graph/error.h"
#include "graph/graph.h"
#include "parity/bench_table.h"
#include "parity/performance.h"
#include "parity/worker.h"
#include "tools/concord/options.h"

namespace concord::tools {

struct BenchOptions {
  double seconds = 2.0;  // measured, of each participant
  bool per_step = false;
  bool floor = false;           // for a table's cells
  bool skip_unknown = false;    // a participant that does not start is left out with a line
  std::filesystem::path model;  // as it was named
  std::string progress_before;  // before what is said of progress
};

// The participants of one case, started one at a time, since starts are timed as well. One that
// fails is out of the case and keeps its error.
class BenchCase {
 public:
  // Keeps references.
  BenchCase(const BenchOptions& options, const CommonOptions& common,
            const std::shared_ptr<const graph::Graph>& imported, const InputCase& one);

  // Throws Error(failed) if all of them are left out.
  void start(const std::vector<BackendSpec>& specs);
  void measure();
  // Adds what was asked for: where the time goes, or the floor.
  void explain();

  std::string text();
  nlohmann::json json() const;
  // One for each spec that was started.
  std::vector<parity::BenchCell> cells() const;
  // The first that was measured.
  std::optional<BackendSpec> first();
  // By spec.
  void collect_errors(std::map<std::string, Error>& errors) const;

 private:
  struct Participant {
    BackendSpec spec;
    std::size_t place = 0;  // among the specs
    std::unique_ptr<parity::Worker> worker;
    parity::Performance result;
    std::optional<Error> failed;
  };

  static std::string_view verdict(const Error& error);
  std::vector<Participant*> alive();
  std::vector<parity::Performance> alive_results();
  std::unique_ptr<parity::Worker> worker(const BackendSpec& spec) const;
  bool starts(parity::Worker& fresh, const BackendSpec& spec) const;
  void first_run(Participant& participant) const;
  void start_twin();
  bool drop_dead();
  void progress(const std::string& what, double fraction) const;

  const BenchOptions& options_;
  const CommonOptions& common_;
  const InputCase& one_;
  std::vector<std::int64_t> ranks_;
  std::shared_ptr<const graph::Graph> imported_;
  std::size_t specs_ = 0;
  std::vector<Participant> participants_;
  std::unique_ptr<parity::Worker> twin_;
  parity::Calibration calibration_;
};

}  // namespace concord::tools
