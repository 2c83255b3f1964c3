#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "graph/functions.h"
#include "graph/passes/rewriter.h"

namespace concord::graph {

// --- what nodes and values are
// --------------------------------------------------------------------

bool is_unary(const Node* node, UnaryFn fn);
bool is_binary(const Node* node, BinaryFn fn);
std::optional<UnaryFn> unary_fn(const Node* node);
std::optional<BinaryFn> binary_fn(const Node* node);

// The producer, if it is such a function.
const Node* unary_producer(const Rewriter& rw, ValueId id, UnaryFn fn);
const Node* binary_producer(const Rewriter& rw, ValueId id, BinaryFn fn);

// The element of a constant of one element.
std::optional<double> scalar_constant(const Graph& graph, ValueId id);
// How far a constant of this type may lie from the number that it stands for, relatively.
double constant_tolerance(DataType dtype);
bool near(double value, double wanted, DataType dtype);

// x · s, x / s or −x with a scalar constant s: x and the factor. Shapes stay those of x.
struct Scaled {
  ValueId base;
  double factor = 1;
};
std::optional<Scaled> scaled_by(const Graph& graph, const Node& node);
// x + s or s + x.
struct Shifted {
  ValueId base;
  double offset = 0;
};
std::optional<Shifted> shifted_by(const Graph& graph, const Node& node);

// The other operand of a two-operand node.
ValueId other_input(const Node& node, ValueId one);

// One scale and one zero point for all of a tensor.
struct Quantisation {
  double scale = 1, zero = 0;
  friend bool operator==(const Quantisation&, const Quantisation&) = default;
};
// Of a quantize or dequantize node whose scale and zero point are constants of one element: nullopt
// if they are not, or if the scale is not a normal f32.
std::optional<Quantisation> quantisation_of(const Rewriter& rw, const Node& node);

// --- shapes
// ---------------------------------------------------------------------------------------

// Both ranks known and all extents equal for every value of the symbols.
bool same_shape(const Graph& graph, ValueId a, ValueId b);
bool same_shape(const std::optional<SymShape>& a, const std::optional<SymShape>& b);
std::optional<std::int64_t> rank_of(const Graph& graph, ValueId id);
std::optional<Dim> extent(const Graph& graph, ValueId id,
                          std::int64_t axis);  // negative: from the back
// perm of `second` after `first`: transposing by first, then by second.
std::vector<std::int64_t> compose(const std::vector<std::int64_t>& first,
                                  const std::vector<std::int64_t>& second);
bool is_identity(const std::vector<std::int64_t>& perm);
// Swaps the last two axes and keeps the others.
bool swaps_last_two(const std::vector<std::int64_t>& perm);

// A tensor of whole size 1 holding the value in that type.
Tensor scalar_tensor(DataType dtype, double value);

}  // namespace concord::graph
