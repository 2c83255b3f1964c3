#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "parity/floor.h"
#include "parity/roofline.h"
#include "parity/statistics.h"
#include "parity/worker.h"

namespace concord::parity {

enum class Speed : std::uint8_t { faster, slower, inconclusive };
std::string_view to_string(Speed speed);

// How long one takes by the other's time.
struct SpeedRatio {
  Interval ratio;
  Speed call = Speed::inconclusive;
};

// Faster or slower only where the whole interval lies beyond what identical participants show:
// `floor` ≥ 1, the largest ratio that is still noise.
SpeedRatio judge_ratio(const Interval& ratio, double floor);

// Whether its speed means anything: not where a device is only imitated (CUDA's software driver).
bool has_speed(const DeviceInfo& device);

// What one participant costs on one set of inputs.
struct Performance {
  std::string spec;
  double load_ms = 0;
  double compile_ms = 0;
  double plan_ms = 0;
  double first_run_ms = 0;
  std::vector<double> times;   // every measured run, ms
  std::vector<double> rounds;  // median of each round, ms
  Latency latency;
  std::optional<SpeedRatio> against_first;  // by the first participant measured; not of itself
  double transfer_ms = 0;                   // of a run's time: between host and device
  WorkerMemory memory;
  std::vector<WorkerStep> steps;     // empty unless asked for
  std::optional<Roofline> roofline;  // with steps, where ceilings are known
  std::optional<Floor> floor;        // alike
};

// What the session's own noise is.
struct Calibration {
  std::string spec;               // whose twin it was
  std::optional<Interval> twins;  // a second process of the first participant, by the first; A/A
  double floor = 1;  // the largest ratio that the twins' interval holds, or its inverse
  std::vector<double> yardstick;  // of each round, ms (parity/yardstick.h)
};

struct MeasureOptions {
  double seconds = 2.0;  // of measured runs per participant, warm-up apart
  double warmup_s = 0.3;
  int least_rounds = 6;  // fewer pairs cannot reach 95 % confidence
  int most_rounds = 20;
  bool per_step = false;
  bool floor = false;  // keeps the steps of one run, if not per_step, for add_floor()
  std::function<void(double)> progress;  // told the fraction done
};

// Measures participants that have run the inputs once: `results` holds what is known of the start
// (spec, load, compile, plan, first run) and gets the rest. Rounds are interleaved (A B C A B C …),
// so that a drift of the machine falls on all alike; workers stay alive between their turns.
// `twin`, if there is one, is another process of the first participant and takes its turn at the
// end of each round, so that what the order of turns does shows in it as well.
Calibration measure(const std::vector<Worker*>& workers, Worker* twin,
                    const MeasureOptions& options, std::vector<Performance>& results);

// Places the steps that were measured: adds the roofline and the floor, with ceilings remembered or
// measured now (parity/ceilings.h). Nothing is added for a backend that has none, or without steps.
// `dims` binds the symbols of the model's inputs.
void explain(Performance& performance, const BackendSpec& spec, const DeviceInfo& device,
             const std::shared_ptr<const graph::Graph>& imported,
             const std::set<std::string>& disabled_passes, const Bindings& dims);

// Adds the floor alone and drops the steps.
void add_floor(Performance& performance, const BackendSpec& spec, const DeviceInfo& device,
               const std::shared_ptr<const graph::Graph>& imported,
               const std::set<std::string>& disabled_passes, const Bindings& dims);

// As the command line's contract has it: spec, latency_ms, runs, load_ms, …, steps.
nlohmann::json to_json(const Performance& performance);
nlohmann::json to_json(const Calibration& calibration);
nlohmann::json to_json(const Interval& interval);

}  // namespace concord::parity
