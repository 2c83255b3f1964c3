#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/session.h"
#include "graph/graph.h"

namespace concord {

// Who carries a node out.
enum class Runner : std::uint8_t {
  device,   // the session's backend
  cpu,      // the cpu backend, instead of it
  host,     // the host interpreter, node by node
  single,   // a backend, compiled when the operands that decide the shape are there
  control,  // if, loop, scan: the session itself, with nested executors for the bodies
};

// A set of nodes that runs as one: a sub-graph for a backend, or nodes in order for the others.
struct Part {
  Runner runner{};
  std::vector<graph::NodeId> nodes;
  std::vector<graph::ValueId> inputs;   // values from outside the part, constants excluded
  std::vector<graph::ValueId> outputs;  // values that others need
};

struct Partition {
  std::vector<Part> parts;  // in an order in which they can run
  std::vector<Fallback> fallbacks;
};

// Splits the graph. `cpu` opens the cpu backend when it is first needed and returns null if it is
// not there. Throws Error(unsupported) with a table of all nodes that nothing can run.
Partition partition(const graph::Graph& graph, const Backend& backend,
                    const std::function<const Backend*()>& cpu);

}  // namespace concord
