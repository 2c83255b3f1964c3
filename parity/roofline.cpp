#include "parity/roofline.h"

#include <algorithm>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>

#include "parity/bodies.h"

namespace concord::parity {
namespace {

// Constants stay in a cache from run to run only if all of them fit it: they are charged as reading
// all the model's weights is.
double weight_bytes(const graph::Graph& graph) {
  double bytes = 0;
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const graph::Value& value = graph.value(graph::ValueId{static_cast<std::int32_t>(i)});
    if (value.constant) bytes += static_cast<double>(value.constant->bytes());
  }
  return bytes;
}

// What part of a constant's bytes is left where a step keeps it in the precision of its operands.
double kept_share(DataType constant, const StepPrecision& precision) {
  if (!is_float(constant) || !is_float(precision.operand)) return 1;
  return std::min(
      1.0, static_cast<double>(bits(precision.operand)) / static_cast<double>(bits(constant)));
}

double ms_of(double amount, double rate) {
  return rate > 0 ? amount / rate * 1e3 : 0;
}

// What each step has to do. A product that a step before it carried out together with its own (the
// cpu backend's groups of products of one value) counts there, and reads that value no second time.
std::vector<Work> works_of(const graph::Graph& optimised, const Bindings& bindings,
                           const std::vector<WorkerStep>& steps) {
  std::vector<Work> works;
  std::map<std::pair<BodyPath, int>, std::size_t> leaders;  // by the value that is multiplied
  for (const WorkerStep& step : steps) {
    const graph::Graph* graph = find_body(optimised, step.path);
    Work work;
    work.flops = step.flops;
    work.bytes = step.bytes;
    if (const auto known = work_of(graph, step, bindings)) {
      work = *known;
      const graph::Node& node = graph->node(graph::NodeId{step.node});
      const std::pair<BodyPath, int> value = {step.path, node.input(0).index};
      const auto leader = leaders.find(value);
      if (step.kernel == "with its group" && leader != leaders.end()) {
        Work& carrier = works[leader->second];
        carrier.flops += work.flops;
        carrier.bytes += work.bytes - work.first_bytes;
        carrier.weight_bytes += work.weight_bytes;
        carrier.narrowed += work.narrowed;
        work = {};
      } else if (node.op == graph::OpKind::matmul) {
        leaders[value] = works.size();
      }
    }
    works.push_back(work);
  }
  return works;
}

Bound heaviest(const double (&ms)[4]) {
  return static_cast<Bound>(std::max_element(ms, ms + 4) - ms);
}

}  // namespace

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::none:
      return "none";
    case Bound::overhead:
      return "overhead";
    case Bound::memory:
      return "memory";
    case Bound::arithmetic:
      return "arithmetic";
  }
  return "none";
}

std::optional<Work> work_of(const graph::Graph* graph, const WorkerStep& step,
                            const Bindings& bindings) {
  if (graph == nullptr || step.node < 0 ||
      static_cast<std::size_t>(step.node) >= graph->node_count()) {
    return std::nullopt;
  }
  std::optional<Work> work = work_of(*graph, graph->node(graph::NodeId{step.node}), bindings);
  if (!work) return work;
  if (!(work->flops > 0)) work->flops = step.flops;
  for (auto& [id, bytes] : work->weights) {
    const double kept = bytes * kept_share(graph->value(id).dtype, step.precision);
    work->narrowed += bytes - kept;
    bytes = kept;
  }
  work->bytes -= work->narrowed;
  work->weight_bytes -= work->narrowed;
  return work;
}

Roofline place(const graph::Graph& optimised, const graph::Graph* unfused, const Bindings& bindings,
               const std::vector<WorkerStep>& steps, const Ceilings& ceilings, double run_ms,
               double transfer_ms) {
  Roofline result;
  result.ceilings = ceilings;
  result.run_ms = run_ms;
  result.transfer_ms = transfer_ms;
  const double weights = weight_bytes(optimised);
  double narrowed = 0;
  struct Group {
    KernelTime time;
    double bound_ms[4] = {};
  };
  std::map<std::string, Group> groups;
  const std::vector<Work> works = works_of(optimised, bindings, steps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const WorkerStep& step = steps[i];
    const Work& work = works[i];
    StepBound placed{work.flops, work.bytes, 0, Bound::none};
    if (work.bytes > 0 && step.ms > 0) {
      const double activations = work.bytes - work.weight_bytes;
      const double memory = ms_of(work.weight_bytes, ceilings.read_rate(weights)) +
                            ms_of(activations, ceilings.copy_rate(activations));
      const double arithmetic = ms_of(work.flops, ceilings.peak(step.precision));
      // Device clocks do not see a launch, so that a step may take less than it costs.
      const double overhead = std::min(ceilings.step_ms, step.ms);
      placed.lower_ms = std::max({memory, arithmetic, overhead});
      placed.bound = placed.lower_ms == arithmetic ? Bound::arithmetic
                     : placed.lower_ms == memory   ? Bound::memory
                                                   : Bound::overhead;
    }
    const double lower = std::min(placed.lower_ms, step.ms);
    result.steps.push_back(placed);
    result.steps_ms += step.ms;
    result.lower_ms += lower;
    result.moved_bytes += work.bytes;
    narrowed += work.narrowed;
    const auto bound = static_cast<std::size_t>(placed.bound);
    result.bound_ms[bound] += step.ms;
    if (step.ms <= 0) continue;
    Group& group = groups[step.kernel];
    group.bound_ms[bound] += step.ms;
    group.time.kernel = step.kernel;
    ++group.time.steps;
    group.time.ms += step.ms;
    group.time.lower_ms += lower;
    group.time.flops += work.flops;
    group.time.bytes += work.bytes;
  }
  for (auto& [name, group] : groups) {
    group.time.bound = heaviest(group.bound_ms);
    result.kernels.push_back(std::move(group.time));
  }
  std::stable_sort(result.kernels.begin(), result.kernels.end(),
                   [](const KernelTime& a, const KernelTime& b) {
                     return a.ms - a.lower_ms > b.ms - b.lower_ms;
                   });
  result.outside_ms = std::max(0.0, run_ms - result.steps_ms - transfer_ms);
  result.lower_ms += std::min(ceilings.run_ms, result.outside_ms);
  // Steps are timed in runs of their own, which a busy machine may have slowed.
  if (run_ms > 0) result.lower_ms = std::min(result.lower_ms, run_ms);
  result.bound = heaviest(result.bound_ms);
  if (unfused != nullptr) result.unfused_bytes = moved_bytes(*unfused, bindings) - narrowed;
  return result;
}

nlohmann::json to_json(const StepBound& b) {
  return {{"flops", b.flops},
          {"bytes", b.bytes},
          {"lower_ms", b.lower_ms},
          {"bound", std::string(to_string(b.bound))}};
}

nlohmann::json to_json(const Roofline& r) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const KernelTime& k : r.kernels) {
    kernels.push_back({{"kernel", k.kernel},
                       {"steps", k.steps},
                       {"ms", k.ms},
                       {"lower_ms", k.lower_ms},
                       {"flops", k.flops},
                       {"bytes", k.bytes},
                       {"bound", std::string(to_string(k.bound))}});
  }
  return {{"ceilings", to_json(r.ceilings)},
          {"kernels", std::move(kernels)},
          {"run_ms", r.run_ms},
          {"steps_ms", r.steps_ms},
          {"transfer_ms", r.transfer_ms},
          {"outside_ms", r.outside_ms},
          {"lower_ms", r.lower_ms},
          {"bound", std::string(to_string(r.bound))},
          {"bound_ms",
           {{"overhead", r.bound_ms[static_cast<int>(Bound::overhead)]},
            {"memory", r.bound_ms[static_cast<int>(Bound::memory)]},
            {"arithmetic", r.bound_ms[static_cast<int>(Bound::arithmetic)]}}},
          {"moved_bytes", r.moved_bytes},
          {"unfused_bytes", r.unfused_bytes}};
}

}  // namespace concord::parity
