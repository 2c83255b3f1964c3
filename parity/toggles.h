#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "parity/examine.h"
#include "parity/worker.h"

namespace concord::parity {

// One thing changed about a run: "fusion=off", "fuse_gelu off", "threads=1", …
struct Toggle {
  std::string name;
  WorkerJob job;
};

// A spec with one key set anew.
std::string with_key(const std::string& spec, const std::string& key, const std::string& value);

// Everything about a job that can be switched, one at a time: fusion, each pass that changed the
// model, precision, and what its backend offers (threads, instruction set, matmul implementation,
// replay).
std::vector<Toggle> toggles_of(const graph::Graph& imported, const WorkerJob& job);

// A run with each toggle beside the run as it was. `progress` is told the toggle's name.
std::vector<ToggleReport> try_toggles(const std::shared_ptr<const graph::Graph>& imported,
                                      const WorkerJob& job, const Examination& before,
                                      OraclePass& oracle,
                                      const std::function<void(const std::string&)>& progress = {});

// Names of the toggles that cure the run: with them it has neither the fault nor the failure.
std::set<std::string> cures(const std::vector<ToggleReport>& toggles);

}  // namespace concord::parity
