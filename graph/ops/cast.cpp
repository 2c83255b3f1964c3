#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

// Contents are whole numbers, so a cast keeps them or they do not fit (see fitting); to bool they
// become 0 or 1.

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const DataType to = in.attrs().dtype("to");
  Contents contents = in.contents(0);
  if (contents && to == DataType::boolean && in.dtype(0) != DataType::boolean) {
    for (Dim& d : *contents) d = Dim(1) - Dim::equal(d, 0);
  }
  in.output(0, to, in.shape(0), std::move(contents));
}

}  // namespace

const OpSchema schema_cast{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
