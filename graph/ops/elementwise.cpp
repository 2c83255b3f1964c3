#include "graph/elementwise_program.h"
#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const auto program = load_elementwise(in.attrs());
  if (program.inputs != static_cast<int>(in.input_count()) || program.code.empty()) {
    mismatch(std::to_string(program.inputs) + " operands and a program",
             std::to_string(in.input_count()) + " and " + std::to_string(program.code.size()) +
                 " instructions");
  }
  std::optional<SymShape> shape = SymShape{};
  DataType type = DataType::undefined;
  for (std::size_t i = 0; i < in.input_count(); ++i) {
    shape = broadcast_shapes(shape, in.shape(i));
    if (in.dtype(i) == DataType::boolean) continue;
    if (type != DataType::undefined && type != in.dtype(i)) in.require_same_type(0, i);
    type = in.dtype(i);
  }
  in.output(0, program.quantised ? program.quantised->to : type, std::move(shape));
}

}  // namespace

const OpSchema schema_elementwise{1, -1, 1, 1, infer_op};

}  // namespace concord::graph
