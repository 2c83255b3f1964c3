#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_type(0, DataType::boolean);
  if (in.node().bodies.size() != 2) {
    mismatch("two bodies", std::to_string(in.node().bodies.size()));
  }
  const std::size_t n = in.node().outputs.size();
  for (Graph& body : in.node().bodies) {
    if (body.inputs.size() + 1 != in.input_count() || body.outputs.size() != n) {
      mismatch("bodies with " + std::to_string(in.input_count() - 1) + " inputs and " +
                   std::to_string(n) + " outputs",
               std::to_string(body.inputs.size()) + " and " + std::to_string(body.outputs.size()));
    }
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
      in.contents(i + 1);
      bind_body_input(body, i, graph.value(in.node().inputs[i + 1]), true);
    }
    infer(body);
  }
  // With a known condition the outputs are those of the branch that it takes.
  std::size_t first = 0;
  std::size_t second = 1;
  if (const auto condition = in.constant_contents(0); condition && condition->size() == 1) {
    first = second = condition->front() != 0 ? 0 : 1;
  }
  const auto& bodies = in.node().bodies;
  for (std::size_t o = 0; o < n; ++o) {
    join_output(in, o, bodies[first].value(bodies[first].outputs[o]),
                bodies[second].value(bodies[second].outputs[o]));
  }
}

}  // namespace

const OpSchema schema_if_then_else{1, -1, 0, -1, infer_op};

}  // namespace concord::graph
