#pragma once

#include "graph/ops/inference.h"

namespace concord::graph {

// Asks for x and w of one rank and for a count of groups, and returns the latter.
std::int64_t require_convolution(Inference& in);

}  // namespace concord::graph
