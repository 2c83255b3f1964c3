#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_rank_at_least(0, 3);
  if (!in.shape(0)) {
    in.output(0, in.dtype(0));
    in.output(1, DataType::i64);
    return;
  }
  const SymShape x = *in.shape(0);
  const std::vector<std::int64_t> kernel = in.attrs().integers("kernel");
  const std::size_t n = x.size() - 2;
  if (kernel.size() != n) {
    mismatch("a kernel of " + std::to_string(n) + " extents", std::to_string(kernel.size()));
  }
  canonical_window(in, kernel);
  const auto& strides = in.attrs().integers("strides");
  const auto& dilations = in.attrs().integers("dilations");
  const auto& pads = in.attrs().integers("pads");
  const std::string auto_pad = in.attrs().text("auto_pad");
  const bool ceiling = in.attrs().integer("ceil_mode", 0) != 0 && auto_pad == "notset";
  SymShape y{x[0], x[1]};
  for (std::size_t k = 0; k < n; ++k) {
    if (!ceiling) {
      y.push_back(window_extent(x[k + 2], kernel[k], strides[k], dilations[k], pads[k], pads[n + k],
                                auto_pad));
      continue;
    }
    // A last window that would begin in the end padding is dropped.
    const Dim effective = Dim(kernel[k] - 1) * Dim(dilations[k]) + Dim(1);
    const Dim steps =
        Dim::ceil_div(x[k + 2] + Dim(pads[k]) + Dim(pads[n + k]) - effective, strides[k]);
    const Dim inside = Dim::less(steps * Dim(strides[k]), x[k + 2] + Dim(pads[k]));
    y.push_back(Dim::select(inside, steps + Dim(1), steps));
  }
  in.output(1, DataType::i64, y);
  in.output(0, in.dtype(0), std::move(y));
}

}  // namespace

const OpSchema schema_pool{1, 1, 1, 2, infer_op};

}  // namespace concord::graph
