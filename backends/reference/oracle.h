#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "graph/graph.h"

namespace concord::reference {

// A value as the oracle knows it: floats in float64 (long double behind it where the declared type
// is f64), everything else in its own type.
struct OracleValue {
  Tensor value;
  DataType declared = DataType::undefined;
  Tensor sigma;  // f64, same shape, the expected spread of rounding errors; undefined if not asked
  bool overflow = false;  // an element exceeds the declared type's largest finite number
  // What quantising rounded (zero point added, not clamped), f64, in units of a quantum, as is its
  // sigma; undefined for all other values.
  Tensor unrounded;

  // Rounded to the declared type.
  Tensor rounded() const;
};

OracleValue from_tensor(const Tensor& tensor);

struct Numerics {
  StepPrecision precision;
  bool sigma = false;  // also give the spread σ, by the rules of docs/budget.md
};

// Computes one node (of an imported or of an optimised graph, fused operators included) in float64.
// It rounds only where the model says so (cast, quantise). `bindings` gives the model's symbols a
// value where attributes use them. Throws Error(invalid) on a bad run-time value, naming it.
std::vector<OracleValue> evaluate(const graph::Graph& graph, const graph::Node& node,
                                  std::span<const OracleValue> inputs, const Bindings& bindings,
                                  const Numerics& numerics = {});

// Computes a constant node for folding: evaluate, then rounded. Empty if it cannot.
std::vector<Tensor> fold(const graph::Graph& graph, const graph::Node& node,
                         std::span<const Tensor> inputs);

}  // namespace concord::reference
