#include "parity/performance.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace concord::parity {

void measure(std::vector<Worker*> workers, const MeasureOptions& options,
             std::vector<Performance>& results) {
  const int rounds = std::max(options.rounds, 1);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const std::vector<double> times = workers[i]->burst(
          options.seconds / rounds, round == 0 ? 5 : 1, round == 0 ? options.warmup_s : 0.0);
      results[i].times.insert(results[i].times.end(), times.begin(), times.end());
    }
  }
  for (std::size_t i = 0; i < workers.size(); ++i) {
    results[i].latency = latency_of(results[i].times);
    results[i].memory = workers[i]->memory();
    if (options.per_step) {
      results[i].steps = workers[i]->steps(std::min(1.0, options.seconds / 2));
    }
  }
}

nlohmann::json to_json(const Performance& p) {
  nlohmann::json result = {{"spec", p.spec},
                           {"latency_ms",
                            {{"median", p.latency.median},
                             {"min", p.latency.min},
                             {"p10", p.latency.p10},
                             {"p90", p.latency.p90}}},
                           {"runs", p.latency.runs},
                           {"load_ms", p.load_ms},
                           {"compile_ms", p.compile_ms},
                           {"plan_ms", p.plan_ms},
                           {"first_run_ms", p.first_run_ms},
                           {"peak_bytes", p.memory.peak_bytes},
                           {"weight_bytes", p.memory.planned.weights},
                           {"activation_bytes", p.memory.planned.activations}};
  if (!p.times.empty()) {
    nlohmann::json quantiles = nlohmann::json::array();
    for (int i = 0; i <= 20; ++i) quantiles.push_back(quantile(p.times, i / 20.0));
    result["quantiles_ms"] = std::move(quantiles);
  }
  if (p.steps.empty()) return result;
  nlohmann::json steps = nlohmann::json::array();
  for (const WorkerStep& step : p.steps) {
    steps.push_back({{"path", step.path},
                     {"node", step.node},
                     {"backend", step.backend},
                     {"kernel", step.kernel},
                     {"flops", step.flops},
                     {"bytes", step.bytes},
                     {"ms", step.ms}});
  }
  result["steps"] = std::move(steps);
  return result;
}

}  // namespace concord::parity
