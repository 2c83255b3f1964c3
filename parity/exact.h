#pragma once

#include <memory>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"
#include "parity/worker.h"

// --exact: integers instead of weights and inputs, so small that many steps have nothing to round.
// What such a step gets wrong is no matter of precision.
namespace concord::parity {

// The graph with small integers for its float weights (powers of two for the scales of
// quantisation; single numbers stay): the same on every machine. Worker and parent both do this.
std::shared_ptr<const graph::Graph> with_integer_weights(
    std::shared_ptr<const graph::Graph> imported);
// Small integers for float inputs; other inputs as they are.
std::vector<Tensor> integer_inputs(const std::vector<Tensor>& inputs);

// Whether a step's arithmetic is exact on these operands in these types, in any order of its sums:
// they are integers, the operations exact, and no sum of magnitudes leaves the significand.
bool is_exact(const graph::Graph& graph, const graph::Node& node,
              const std::vector<Tensor>& operands, const Bindings& bindings,
              const StepPrecision& precision);

// A result of which most elements are 0 tells little.
bool mostly_zero(const Tensor& tensor);

}  // namespace concord::parity
