#include "parity/performance.h"

#include <algorithm>
#include <cmath>

#include "backends/cores.h"
#include "parity/yardstick.h"

namespace concord::parity {
namespace {

// A participant's turns: what one run takes, and its rounds.
struct Turns {
  Worker* worker = nullptr;
  double run_ms = 0;
  std::vector<double> times;
  std::vector<double> rounds;

  // Others used the caches meanwhile: where a turn holds several runs, the first is not measured.
  void take(double seconds) {
    const double warmup_s = seconds * 1e3 > 4 * run_ms ? 1e-9 : 0.0;
    const std::vector<double> turn = worker->burst(seconds, 1, warmup_s);
    times.insert(times.end(), turn.begin(), turn.end());
    rounds.push_back(quantile(turn, 0.5));
  }
};

// As many as the time allows: a round holds one run of each at least.
int rounds_for(const std::vector<Turns>& all, const MeasureOptions& options) {
  double slowest_ms = 1e-3;
  for (const Turns& turns : all) slowest_ms = std::max(slowest_ms, turns.run_ms);
  const double fit = options.seconds * 1e3 / (2 * slowest_ms);
  return static_cast<int>(std::clamp(fit, static_cast<double>(options.least_rounds),
                                     static_cast<double>(options.most_rounds)));
}

double floor_of(const Interval& twins) {
  return std::max({1.0, twins.high, twins.low > 0 ? 1 / twins.low : 1.0});
}

}  // namespace

bool has_speed(const DeviceInfo& device) {
  return device.type != "imitated";
}

std::string_view to_string(Speed speed) {
  switch (speed) {
    case Speed::faster:
      return "faster";
    case Speed::slower:
      return "slower";
    case Speed::inconclusive:
      return "inconclusive";
  }
  return "inconclusive";
}

SpeedRatio judge_ratio(const Interval& ratio, double floor) {
  SpeedRatio result{ratio, Speed::inconclusive};
  if (ratio.coverage < kConfidence) return result;
  if (ratio.low > floor) result.call = Speed::slower;
  if (ratio.high < 1 / floor) result.call = Speed::faster;
  return result;
}

Calibration measure(const std::vector<Worker*>& workers, Worker* twin,
                    const MeasureOptions& options, std::vector<Performance>& results) {
  Calibration calibration;
  if (workers.empty()) return calibration;
  std::vector<Turns> all;
  for (Worker* worker : workers) all.push_back({worker, 0, {}, {}});
  if (twin != nullptr) all.push_back({twin, 0, {}, {}});
  const auto report = [&options](double fraction) {
    if (options.progress) options.progress(fraction);
  };
  report(0);
  for (Turns& turns : all) {
    turns.run_ms = quantile(turns.worker->burst(0, 1, options.warmup_s), 0.5);
  }
  const int rounds = rounds_for(all, options);
  const int cores = available_cores();
  for (int round = 0; round < rounds; ++round) {
    report(static_cast<double>(round) / rounds);
    calibration.yardstick.push_back(yardstick_ms(cores));
    for (Turns& turns : all) turns.take(options.seconds / rounds);
  }
  calibration.spec = results.front().spec;
  if (twin != nullptr) {
    calibration.twins = paired_ratio(all.front().rounds, all.back().rounds);
    calibration.floor = floor_of(*calibration.twins);
  }
  for (std::size_t i = 0; i < workers.size(); ++i) {
    Performance& result = results[i];
    result.times = std::move(all[i].times);
    result.rounds = std::move(all[i].rounds);
    result.latency = latency_of(result.times);
    result.memory = workers[i]->memory();
    if (i > 0) {
      result.against_first =
          judge_ratio(paired_ratio(results[0].rounds, result.rounds), calibration.floor);
    }
    WorkerProfile profile =
        workers[i]->profile(options.per_step ? std::min(1.0, options.seconds / 2) : 0);
    result.transfer_ms = profile.transfer_ms;
    if (!options.per_step && !options.floor) continue;
    result.steps = std::move(profile.steps);
  }
  return calibration;
}

}  // namespace concord::parity
