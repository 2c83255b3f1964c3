#pragma once

#include "graph/error.h"
#include "graph/graph.h"

namespace concord::gpu {

// The error of a number among the inputs that does not fit the device's integers. As an index it is
// outside every axis, and the error then names the node that would use it.
Error input_error(const graph::Graph& graph, graph::ValueId input, const Error& error);

}  // namespace concord::gpu
