#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace concord::graph {

// Computes a node with constant inputs, for folding; returns an empty vector if it cannot.
using Evaluator =
    std::function<std::vector<Tensor>(const Graph&, const Node&, std::span<const Tensor> inputs)>;

struct PassOptions {
  bool fusion = true;              // false: only folding and removal of dead and duplicate nodes
  std::set<std::string> disabled;  // passes switched off by name
  // Whether products of integers with scales, and of 4-bit weights, are worth making: the backend
  // has them.
  bool quantised_products = true;
  std::size_t chain_operands = 8;       // that an elementwise chain may read
  std::int64_t fold_budget = 64 << 20;  // bytes that folding may add to a model
  Evaluator evaluator;                  // no folding without one
};

struct Pass {
  std::string_view name;
  std::string_view summary;
  bool fusion;  // switched off by fusion=off
  // Returns how many changes it made.
  int (*run)(Graph& graph, const PassOptions& options);
};

// All passes in the order in which they run.
std::span<const Pass> passes();

// The optimised copy. Ids of surviving values and nodes are kept; new ones are added behind.
// Throws Error(usage) if a disabled pass does not exist.
Graph optimise(const Graph& imported, const PassOptions& options);

}  // namespace concord::graph
