#pragma once

#include "graph/graph.h"

namespace concord::graph {

// Arity and inference of one core operator. Each graph/ops/<name>.cpp defines `schema_<name>`.
struct OpSchema {
  int min_inputs;
  int max_inputs;  // −1: any number
  int min_outputs;
  int max_outputs;  // −1: any number
  // Fills dtype, shape and contents of the outputs from those of the inputs, and turns operands
  // that are known symbolically into the attribute of the same name (see ops.def). Throws
  // Error(invalid) that says what was expected and what was found, without naming the node: infer
  // adds that.
  void (*infer)(Graph& graph, NodeId node);
};

#define CONCORD_OP(name) extern const OpSchema schema_##name;
#include "graph/ops.def"
#undef CONCORD_OP

const OpSchema& schema(OpKind op);

// Throws Error(invalid) if the node has too few or too many inputs or outputs.
void check_arity(const Node& node);

// Infers one node's outputs; errors name the node.
void infer(Graph& graph, NodeId node);
// All nodes in order, bodies included.
void infer(Graph& graph);

}  // namespace concord::graph
