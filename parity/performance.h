#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "parity/statistics.h"
#include "parity/worker.h"

namespace concord::parity {

// What one participant costs on one set of inputs.
struct Performance {
  std::string spec;
  double load_ms = 0;
  double compile_ms = 0;
  double plan_ms = 0;
  double first_run_ms = 0;
  std::vector<double> times;  // every measured run, ms
  Latency latency;
  WorkerMemory memory;
  std::vector<WorkerStep> steps;  // empty unless asked for
};

struct MeasureOptions {
  double seconds = 2.0;  // of measured runs per participant, warm-up apart
  double warmup_s = 0.3;
  int rounds = 4;  // the participants take turns this many times
  bool per_step = false;
};

// Measures participants that have run the inputs once: `results` holds what is known of the start
// (spec, load, compile, plan, first run) and gets the rest. Rounds are interleaved (A B C A B C …),
// so that a drift of the machine falls on all alike.
void measure(std::vector<Worker*> workers, const MeasureOptions& options,
             std::vector<Performance>& results);

// As the command line's contract has it: spec, latency_ms, runs, load_ms, …, steps.
nlohmann::json to_json(const Performance& performance);

}  // namespace concord::parity
