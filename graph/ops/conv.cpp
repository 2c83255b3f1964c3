#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.require_same_type(0, 1);
  in.require_rank_at_least(0, 3);
  in.require_rank_at_least(1, 3);
  if (in.rank(0)) in.require_rank(1, *in.rank(0));
  const std::int64_t group = in.attrs().integer("group");
  if (group < 1) mismatch("a positive group count", std::to_string(group));
  if (!in.shape(0) || !in.shape(1)) {
    in.output(0, in.dtype(0));
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
  in.output(0, in.dtype(0), std::move(y));
}

}  // namespace

const OpSchema schema_conv{2, 3, 1, 1, infer_op};

}  // namespace concord::graph
