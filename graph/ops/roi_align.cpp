#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.require_float(1);
  in.require_integer(2);
  in.require_rank(0, 4);
  in.require_rank(1, 2);
  in.require_rank(2, 1);
  const std::int64_t height = in.attrs().integer("height");
  const std::int64_t width = in.attrs().integer("width");
  constexpr std::int64_t widest = std::int64_t{1} << 31;
  if (height < 1 || width < 1 || height > widest || width > widest) {
    mismatch("a positive output size", std::to_string(height) + " × " + std::to_string(width));
  }
  const std::int64_t ratio = in.attrs().integer("sampling_ratio");
  if (ratio < 0 || ratio > widest) {
    mismatch("a sampling_ratio of 0 or more", std::to_string(ratio));
  }
  const std::string& mode = in.attrs().text("mode");
  if (mode != "avg" && mode != "max") mismatch("mode avg or max", "'" + mode + "'");
  if (in.shape(1)) merge_equal((*in.shape(1))[1], 4);
  if (!in.shape(0) || !in.shape(1)) {
    in.output(0, in.dtype(0));
    return;
  }
  Dim rois = (*in.shape(1))[0];
  if (in.shape(2)) rois = merge_equal(rois, in.shape(2)->front());
  in.output(0, in.dtype(0), SymShape{rois, (*in.shape(0))[1], height, width});
}

}  // namespace

const OpSchema schema_roi_align{3, 3, 1, 1, infer_op};

}  // namespace concord::graph
