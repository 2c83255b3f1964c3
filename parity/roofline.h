#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "graph/dim.h"
#include "graph/graph.h"
#include "parity/ceilings.h"
#include "parity/work.h"
#include "parity/worker.h"

// Why a run takes as long as it does: each step against what the device can reach (the roofline
// model of Williams, Waterman and Patterson, 2009, with launch overhead as a third ceiling).
namespace concord::parity {

enum class Bound : std::uint8_t { none, overhead, memory, arithmetic };
std::string_view to_string(Bound bound);

// Of a session's step; nullopt for steps that it made up itself, and where extents depend on data.
// `graph` is that of the step's body (parity/bodies.h) and may be null. Weights count as wide as
// the step's operands are, where that is narrower than in the model.
std::optional<Work> work_of(const graph::Graph* graph, const WorkerStep& step,
                            const Bindings& bindings);

struct StepBound {
  double flops = 0;
  double bytes = 0;
  double lower_ms = 0;  // the time that the highest of the three ceilings allows
  Bound bound = Bound::none;
};

// Steps of one kernel together.
struct KernelTime {
  std::string kernel;
  int steps = 0;
  double ms = 0;
  double lower_ms = 0;  // never more than ms
  double flops = 0;
  double bytes = 0;
  Bound bound = Bound::none;  // that of most of the time
};

struct Roofline {
  Ceilings ceilings;
  std::vector<StepBound> steps;     // as those that were placed
  std::vector<KernelTime> kernels;  // by the time that they lose: ms − lower_ms, falling
  double run_ms = 0;                // the median run
  double steps_ms = 0;              // all steps
  double transfer_ms = 0;
  double outside_ms = 0;      // what is neither: submitting, waiting, the session's own work
  double lower_ms = 0;        // "could be": the steps' bounds and the device's cost of a run; at
                              // most run_ms
  double bound_ms[4] = {};    // measured time of the steps by Bound
  double moved_bytes = 0;     // by the fused program
  double unfused_bytes = 0;   // by the same model without fusion; 0: not known
  Bound bound = Bound::none;  // that of most of the time
};

// `optimised` is the graph that the steps belong to and `unfused` the same model without fusion
// (may be null); `run_ms` is the median of untimed runs.
Roofline place(const graph::Graph& optimised, const graph::Graph* unfused, const Bindings& bindings,
               const std::vector<WorkerStep>& steps, const Ceilings& ceilings, double run_ms,
               double transfer_ms);

nlohmann::json to_json(const Roofline& roofline);  // without the steps
nlohmann::json to_json(const StepBound& bound);

}  // namespace concord::parity
