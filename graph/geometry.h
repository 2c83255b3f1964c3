#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace concord::graph {

// The concrete side of the operators' attributes: what a plan or an interpreter needs once the
// extents are numbers. All functions throw Error(invalid), saying what was expected and found,
// where the numbers contradict each other.

// The axis made non-negative; throws unless −rank ≤ axis < rank.
std::int64_t checked_axis(std::int64_t axis, std::int64_t rank);

// Extents under the bindings; throws naming the symbol that has no value.
Shape concrete_shape(std::span<const Dim> shape, const Bindings& bindings);

// The integers of an operand that ops.def lets be an attribute: the attribute `name` (a SymShape,
// or a list of integers, or one integer) if it is there, else the elements of `operand`. `operand`
// is undefined where the input is omitted; then, and without the attribute, the result is empty.
std::vector<std::int64_t> concrete_dims(const Node& node, std::string_view name,
                                        const Tensor& operand, const Bindings& bindings);

// Numpy broadcasting.
Shape broadcast_shapes(std::span<const std::int64_t> a, std::span<const std::int64_t> b);
// Element strides of a dense tensor of `shape` seen as one of `out`: 0 on axes that broadcast,
// leading axes included.
Shape broadcast_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> out);

// One tensor's windows along its spatial axes, all lists of that length. pads may be negative.
struct Window {
  Shape input;
  Shape kernel;
  Shape strides;
  Shape dilations;
  Shape pads_begin;
  Shape pads_end;
  Shape output;
};

struct ConvGeometry {
  std::int64_t batch = 0;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t group = 1;
  Window window;
  Shape output;  // [batch, out_channels, window.output…]
};

// conv: x [N,C,s…], w [M,C/g,k…].
ConvGeometry conv_geometry(const Node& node, std::span<const std::int64_t> x,
                           std::span<const std::int64_t> w);
// conv_transpose: x [N,C,s…], w [C,M/g,k…]. output element o of an axis gets the products of input
// i and kernel k with o = i·stride + k·dilation − pad_begin.
ConvGeometry conv_transpose_geometry(const Node& node, std::span<const std::int64_t> x,
                                     std::span<const std::int64_t> w);
// pool: x [N,C,s…]. With ceil_mode the last window may reach past the end padding.
ConvGeometry pool_geometry(const Node& node, std::span<const std::int64_t> x);

// Along one axis: elements start, start + step, … (count of them).
struct SliceAxis {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};
// slice: one entry per axis of x. `inputs` as the node's, undefined where omitted.
std::vector<SliceAxis> slice_geometry(const Node& node, std::span<const std::int64_t> x,
                                      std::span<const Tensor> inputs, const Bindings& bindings);

// reshape's operand with 0 (copy, unless allow_zero) and −1 (infer) resolved.
Shape resolve_reshape(std::span<const std::int64_t> x, std::span<const std::int64_t> wanted,
                      bool allow_zero);

// resize: for every axis of x the output extent and the scale (output/input as the mode's formulas
// want it: the given scale if scales were given), 1 on axes that are not resized.
struct ResizeGeometry {
  Shape output;
  std::vector<double> scales;
  // Per axis, for coordinates = tf_crop_and_resize; 0 and 1 otherwise.
  std::vector<double> roi_begin;
  std::vector<double> roi_end;
};
ResizeGeometry resize_geometry(const Node& node, std::span<const std::int64_t> x,
                               std::span<const Tensor> inputs, const Bindings& bindings);

// top_k, one_hot, trilu, cum_sum: the single integer that is an attribute or an input.
std::int64_t concrete_integer(const Node& node, std::string_view name, const Tensor& operand,
                              const Bindings& bindings);

}  // namespace concord::graph
