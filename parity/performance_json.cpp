#include <nlohmann/json.hpp>

#include "parity/performance.h"

namespace concord::parity {

using nlohmann::json;

json to_json(const Interval& interval) {
  return {{"median", interval.median},
          {"low", interval.low},
          {"high", interval.high},
          {"confidence", interval.coverage}};
}

json to_json(const Calibration& c) {
  json result = {{"spec", c.spec}, {"floor", c.floor}, {"yardstick_ms", c.yardstick}};
  if (c.twins) result["twins"] = to_json(*c.twins);
  return result;
}

json to_json(const Performance& p) {
  json result = {{"spec", p.spec},
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
                 {"transfer_ms", p.transfer_ms},
                 {"peak_bytes", p.memory.peak_bytes},
                 {"weight_bytes", p.memory.planned.weights},
                 {"activation_bytes", p.memory.planned.activations}};
  if (!p.times.empty()) {
    json quantiles = json::array();
    for (int i = 0; i <= 20; ++i) quantiles.push_back(quantile(p.times, i / 20.0));
    result["quantiles_ms"] = std::move(quantiles);
    result["rounds_ms"] = p.rounds;
  }
  if (p.against_first) {
    result["against_first"] = to_json(p.against_first->ratio);
    result["against_first"]["call"] = std::string(to_string(p.against_first->call));
  }
  if (p.floor) result["floor"] = to_json(*p.floor);
  if (p.roofline) result["roofline"] = to_json(*p.roofline);
  if (p.steps.empty()) return result;
  json steps = json::array();
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    const WorkerStep& step = p.steps[i];
    json item = {{"path", step.path},     {"node", step.node},   {"backend", step.backend},
                 {"kernel", step.kernel}, {"flops", step.flops}, {"bytes", step.bytes},
                 {"ms", step.ms}};
    if (p.roofline) item.update(to_json(p.roofline->steps.at(i)));
    steps.push_back(std::move(item));
  }
  result["steps"] = std::move(steps);
  return result;
}

}  // namespace concord::parity
