#pragma once

#include "graph/graph.h"
#include "parity/worker.h"

namespace concord::parity {

// The body of control flow that a path leads to; null if there is none such.
const graph::Graph* find_body(const graph::Graph& graph, const BodyPath& path);

}  // namespace concord::parity
