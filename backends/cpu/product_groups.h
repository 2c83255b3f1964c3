#pragma once

#include "backends/cpu/compiler.h"
#include "backends/cpu/program.h"

namespace concord::cpu {

// Products of one value with several constant weights (query, key and value) become one product
// with the weights side by side: one hand-over to the threads, and the rows are read once. The
// first unit computes for all; each keeps its step, and its output is a strided view. Only where
// every reader of the outputs takes views.
void group_products(const graph::Graph& graph, ProgramLayout& layout);

}  // namespace concord::cpu
