#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.output(0, DataType::u8, in.shape(0));
  in.output(1, DataType::f32, SymShape{});
  in.output(2, DataType::u8, SymShape{});
}

}  // namespace

const OpSchema schema_dynamic_quantize{1, 1, 3, 3, infer_op};

}  // namespace concord::graph
