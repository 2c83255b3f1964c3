#include "parity/floor.h"

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "parity/bodies.h"

namespace concord::parity {

Floor floor_of(const graph::Graph& optimised, const Bindings& bindings,
               const std::vector<WorkerStep>& steps, const Ceilings& ceilings) {
  Floor floor;
  double arithmetic_ms = 0;
  std::map<std::pair<BodyPath, int>, double> weights;  // the most that a step reads of each
  for (const WorkerStep& step : steps) {
    const graph::Graph* graph = find_body(optimised, step.path);
    const std::optional<Work> work = work_of(graph, step, bindings);
    const double flops = work ? work->flops : step.flops;
    const double peak = ceilings.peak(step.precision);
    floor.flops += flops;
    if (peak > 0) arithmetic_ms += flops / peak * 1e3;
    if (!work) continue;
    for (const auto& [id, bytes] : work->weights) {
      double& most = weights[{step.path, id.index}];
      most = std::max(most, bytes);
    }
  }
  for (const auto& [constant, bytes] : weights) floor.bytes += bytes;
  for (const auto* values : {&optimised.inputs, &optimised.outputs}) {
    for (const graph::ValueId id : *values) {
      floor.bytes += bytes_of(optimised, id, bindings).value_or(0);
    }
  }
  const double rate = ceilings.read_rate(floor.bytes);
  const double memory_ms = rate > 0 ? floor.bytes / rate * 1e3 : 0;
  floor.ms = std::max(arithmetic_ms, memory_ms);
  if (floor.ms > 0) floor.bound = arithmetic_ms > memory_ms ? Bound::arithmetic : Bound::memory;
  return floor;
}

nlohmann::json to_json(const Floor& floor) {
  return {{"ms", floor.ms},
          {"flops", floor.flops},
          {"bytes", floor.bytes},
          {"bound", std::string(to_string(floor.bound))}};
}

}  // namespace concord::parity
