#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const DataType to = in.attrs().dtype("to");
  const DataType from = in.dtype(0);
  if (from != DataType::undefined && (bits(from) != bits(to) || bits(to) == 0)) {
    mismatch("elements as wide as those of " + std::string(concord::to_string(to)),
             in.describe_input(0));
  }
  in.output(0, to, in.shape(0));
}

}  // namespace

const OpSchema schema_bit_cast{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
