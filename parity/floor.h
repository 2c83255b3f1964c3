#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "parity/roofline.h"

namespace concord::parity {

// The least time of a whole run on a device, whatever its steps and kernels: arithmetic and memory
// each at their ceiling all the time, and at once. What intermediate results cost is not in it.
struct Floor {
  double ms = 0;     // the larger of the two times
  double flops = 0;  // of all steps, as parity/work.h counts them
  double bytes = 0;  // each weight and each of the model's inputs and outputs once
  Bound bound = Bound::none;
};

// FLOPs by the peak of each step's precision; bytes by the rate at which as many bytes of weights
// are read (parity/ceilings.h). Weights count as the steps read them (parity/roofline.h), of a
// table that is looked up the rows. Outputs whose extents depend on data count nothing. `optimised`
// is the graph of the steps.
Floor floor_of(const graph::Graph& optimised, const Bindings& bindings,
               const std::vector<WorkerStep>& steps, const Ceilings& ceilings);

nlohmann::json to_json(const Floor& floor);

}  // namespace concord::parity
