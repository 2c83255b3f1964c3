#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/functions.h"
#include "graph/tensor.h"

namespace concord::host {

// How a reduction walks a dense tensor: output element o is made of the elements
// outer[o] + inner[j], j = 0 …
struct ReduceWalk {
  Shape shape;                      // of the result
  std::vector<std::int64_t> outer;  // one offset per element of the result
  std::vector<std::int64_t> inner;  // one offset per element that is reduced away
};

// Throws Error(invalid) on an axis that does not exist or is given twice. Negative axes count from
// the end.
ReduceWalk walk_reduction(const Shape& shape, std::span<const std::int64_t> axes, bool keepdims);

// Integers wrap around; means truncate; the functions that are not exact are computed in float64
// and truncated. bool: max and min. Max and min of no elements are an Error(invalid).
Tensor reduce_integers(const Tensor& x, graph::ReduceFn fn, std::span<const std::int64_t> axes,
                       bool keepdims);

graph::ReduceFn reduce_function(const std::string& name);

// The axes that reduce_dynamic's operand 1 asks for; nullopt if the input is to pass unchanged.
// Defined in reduce_dynamic.cpp.
struct Call;
std::optional<std::vector<std::int64_t>> reduce_axes(const Call& call);

}  // namespace concord::host
