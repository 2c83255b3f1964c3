#include "graph/ops/convolution.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.require_same_type(0, 1);
  const std::int64_t group = require_convolution(in);
  if (const auto& w = in.shape(1)) {
    if (const auto c = w->front().constant(); c && *c % group != 0) {
      mismatch("input channels that are a multiple of group " + std::to_string(group),
               std::to_string(*c));
    }
  }
  if (!in.shape(0) || !in.shape(1)) {
    in.output(0, in.dtype(0));
    return;
  }
  const SymShape x = *in.shape(0);
  const SymShape w = *in.shape(1);
  merge_equal(x[1], w[0]);
  SymShape y{x[0], w[1] * Dim(group)};
  const auto kernel = static_shape(SymShape(w.begin() + 2, w.end()));
  if (kernel) canonical_window(in, *kernel);
  const std::size_t n = x.size() - 2;
  Attributes& attrs = in.attrs();
  if (!attrs.has("output_padding") || attrs.integers("output_padding").empty()) {
    attrs.set("output_padding", std::vector<std::int64_t>(n, 0));
  }
  if (attrs.integers("output_padding").size() != n) {
    mismatch(std::to_string(n) + " output_padding",
             std::to_string(attrs.integers("output_padding").size()));
  }
  const bool fixed = attrs.has("output_shape") && !attrs.integers("output_shape").empty();
  if (fixed && attrs.integers("output_shape").size() < n) {
    mismatch("an output_shape of " + std::to_string(n) + " extents",
             std::to_string(attrs.integers("output_shape").size()));
  }
  const bool same = attrs.text("auto_pad", "notset") != "notset";
  for (std::size_t k = 0; k < n; ++k) {
    if (fixed) {
      const auto& wanted = attrs.integers("output_shape");
      y.emplace_back(wanted[wanted.size() - n + k]);
    } else if (!kernel) {
      y.push_back(in.dynamic(0, k + 2));
    } else if (same) {
      y.push_back(x[k + 2] * Dim(attrs.integers("strides")[k]));
    } else {
      const auto& pads = attrs.integers("pads");
      y.push_back((x[k + 2] - Dim(1)) * Dim(attrs.integers("strides")[k]) +
                  Dim(attrs.integers("output_padding")[k]) +
                  Dim((*kernel)[k] - 1) * Dim(attrs.integers("dilations")[k]) + Dim(1) -
                  Dim(pads[k]) - Dim(pads[k + n]));
    }
  }
  in.output(0, in.dtype(0), std::move(y));
}

}  // namespace

const OpSchema schema_conv_transpose{2, 3, 1, 1, infer_op};

}  // namespace concord::graph
