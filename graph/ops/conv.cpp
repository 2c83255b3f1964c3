#include "graph/ops/convolution.h"

namespace concord::graph {
namespace {

// Inputs 3 and 4, [x_zero] and [scale] (one or [M]), make it a convolution of bytes with an f32
// result: activation(scale · Σ (x − x_zero)·w + b), padding standing for x_zero. Only passes make
// it.
constexpr std::size_t kScale = 4;

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const bool scaled = in.has(kScale);
  if (scaled) {
    in.require_integer(0);
    in.require_integer(1);
    if (in.has(2)) in.require_type(2, DataType::f32);
    in.require_type(kScale, DataType::f32);
  } else {
    in.require_float(0);
    in.require_same_type(0, 1);
  }
  const DataType type = scaled ? DataType::f32 : in.dtype(0);
  const std::int64_t group = require_convolution(in);
  if (!in.shape(0) || !in.shape(1)) {
    in.output(0, type);
    return;
  }
  const SymShape x = *in.shape(0);
  const SymShape w = *in.shape(1);
  merge_equal(x[1], w[1] * Dim(group));
  if (const auto m = w[0].constant(); m && *m % group != 0) {
    mismatch("output channels that are a multiple of group " + std::to_string(group),
             std::to_string(*m));
  }
  if (const auto& bias = in.shape(2)) {
    in.require_rank(2, 1);
    merge_equal((*bias)[0], w[0]);
  }
  SymShape y{x[0], w[0]};
  const auto kernel = static_shape(SymShape(w.begin() + 2, w.end()));
  if (kernel) canonical_window(in, *kernel);
  for (std::size_t k = 0; k + 2 < x.size(); ++k) {
    if (!kernel) {
      y.push_back(in.dynamic(0, k + 2));
      continue;
    }
    const auto& pads = in.attrs().integers("pads");
    y.push_back(window_extent(x[k + 2], (*kernel)[k], in.attrs().integers("strides")[k],
                              in.attrs().integers("dilations")[k], pads[k],
                              pads[k + kernel->size()], in.attrs().text("auto_pad")));
  }
  in.output(0, type, std::move(y));
}

}  // namespace

const OpSchema schema_conv{2, 5, 1, 1, infer_op};

}  // namespace concord::graph
