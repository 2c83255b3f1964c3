#pragma once

#include "graph/graph.h"

namespace concord {

// As check_inputs of session.h for one input; binds the symbols of its shape.
void check_input(const graph::Graph& graph, const graph::Value& value, const Tensor& input,
                 Bindings& bindings);

}  // namespace concord
