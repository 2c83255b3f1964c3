#pragma once

#include "graph/error.h"
#include "graph/graph.h"

namespace concord::gpu {

// The error of a number among the inputs that does not fit the device's integers. As an index it is
// outside every axis, and the error then names the node that would use it.
Error input_error(const graph::Graph& graph, graph::ValueId input, const Error& error);

// What a step's fault words say: the value at fault and the extent that it does not fit.
Error fault_error(const graph::Graph& graph, const graph::Node& node, std::int64_t value,
                  std::int64_t extent);

}  // namespace concord::gpu
