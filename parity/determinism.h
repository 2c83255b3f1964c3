#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "parity/report.h"
#include "parity/worker.h"

namespace concord::parity {

// The first step, in the order of the plan, of which a result has other bits; empty if none has.
std::string first_that_differs(const graph::Graph& optimised, const std::vector<WorkerStep>& steps,
                               const WorkerFingerprint& a, const WorkerFingerprint& b);

// Runs again and compares bit by bit: `repeats` times as it is; on other numbers of threads (cpu);
// with the rows of the batch in other places. `worker` has run `inputs`; the job is its own.
std::vector<DeterminismCheck> check_determinism(const graph::Graph& imported,
                                                const graph::Graph& optimised, const WorkerJob& job,
                                                Worker& worker,
                                                const std::vector<WorkerStep>& steps,
                                                const std::vector<Tensor>& inputs, int repeats);

// The symbol that stands for the batch: along some axis of an input and of an output, by its name
// or because it is the first axis of all inputs. Empty if there is none.
std::string batch_symbol(const graph::Graph& graph);
// Rows moved on by one along the axis that the symbol stands for; the tensor itself without one.
Tensor rotated(const Tensor& tensor, const std::optional<SymShape>& shape,
               const std::string& symbol);

}  // namespace concord::parity
