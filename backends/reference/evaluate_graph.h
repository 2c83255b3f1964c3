#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/reference/oracle.h"

namespace concord::reference {

// Rule 7: every value that float arithmetic made is moved by √(σ² + (u_store·y)²/3)·N(0, 1).
// The generator is a hash of seed, value and element: the same on every machine, in any order.
struct Noise {
  std::uint64_t seed = 0;
};

struct GraphOptions {
  // Precision of a node (of the graph, or of a body of it); by default what default_precision
  // gives. Wanted for σ and noise only.
  std::function<StepPrecision(const graph::Graph&, const graph::Node&)> precision;
  bool sigma = false;  // values carry the σ of the step that made them
  std::optional<Noise> noise;
  // Called once for each value of the graph (not of bodies) as soon as it is known: inputs,
  // constants that something uses, then nodes' outputs in order.
  std::function<void(graph::ValueId, const OracleValue&)> on_value;
  // Called after each node of the graph with its number in the order, for progress.
  std::function<void(std::size_t done, std::size_t total)> on_progress;
};

// What a backend that stores as the model says would use: f32 arithmetic for 16-bit types and f32,
// f64 for f64.
StepPrecision default_precision(const graph::Graph& graph, const graph::Node& node);

// Runs a whole graph in float64, node by node, freeing values by liveness. `inputs` in the graph's
// input order; what the symbols stand for is taken from their shapes and, as nodes run, from what
// they made. Throws as evaluate does, naming the node.
std::vector<OracleValue> evaluate_graph(const graph::Graph& graph,
                                        std::span<const OracleValue> inputs, Bindings bindings,
                                        const GraphOptions& options = {});
std::vector<OracleValue> evaluate_graph(const graph::Graph& graph, std::span<const Tensor> inputs,
                                        Bindings bindings, const GraphOptions& options = {});

// A value in its declared type, widened only where a node computes with it.
OracleValue view_of(const Tensor& tensor);

// evaluate, with the options that bodies of control flow are run with.
std::vector<OracleValue> evaluate(const graph::Graph& graph, const graph::Node& node,
                                  std::span<const OracleValue> inputs, const Bindings& bindings,
                                  const Numerics& numerics, const GraphOptions* options);

}  // namespace concord::reference
