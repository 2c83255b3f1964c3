#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(1);
  in.require_rank_at_least(0, 3);
  if (in.rank(0)) in.require_rank(1, *in.rank(0));
  const std::string& mode = in.attrs().text("mode");
  if (mode != "nearest" && mode != "linear" && mode != "cubic") {
    mismatch("mode nearest, linear or cubic", "'" + mode + "'");
  }
  const std::string& padding = in.attrs().text("padding");
  if (padding != "zeros" && padding != "border" && padding != "reflection") {
    mismatch("padding zeros, border or reflection", "'" + padding + "'");
  }
  if (!in.shape(0) || !in.shape(1)) {
    in.output(0, in.dtype(0));
    return;
  }
  const SymShape& x = *in.shape(0);
  const SymShape& grid = *in.shape(1);
  merge_equal(grid.back(), static_cast<std::int64_t>(x.size()) - 2);
  SymShape y{merge_equal(x[0], grid[0]), x[1]};
  y.insert(y.end(), grid.begin() + 1, grid.end() - 1);
  in.output(0, in.dtype(0), std::move(y));
}

}  // namespace

const OpSchema schema_grid_sample{2, 2, 1, 1, infer_op};

}  // namespace concord::graph
