#include "graph/schema.h"

#include <array>

#include "graph/complex.h"
#include "graph/error.h"
#include "graph/extent_rules.h"

namespace concord::graph {
namespace {

std::string arity(std::size_t least, std::size_t most, bool open) {
  if (open) return std::to_string(least) + " or more";
  if (least == most) return std::to_string(least);
  return std::to_string(least) + " to " + std::to_string(most);
}

// Operands that may be omitted although others follow: those that became attributes, and a loop's
// bounds.
bool may_be_omitted(const Node& node, std::size_t i) {
  const OpSchema& wanted = schema(node.op);
  if (node.op == OpKind::loop) return i < 2;
  if (node.op == OpKind::range || node.op == OpKind::one_hot) return i == 1;
  return wanted.max_inputs >= 0 && i >= static_cast<std::size_t>(wanted.min_inputs);
}

}  // namespace

const OpSchema& schema(OpKind op) {
  static const std::array<const OpSchema*, kOpCount> table = {
#define CONCORD_OP(name) &schema_##name,
#include "graph/ops.def"
#undef CONCORD_OP
  };
  return *table.at(static_cast<std::size_t>(op));
}

void check_arity(const Node& node) {
  const OpSchema& wanted = schema(node.op);
  const auto check = [&](std::size_t found, int least, int most, const char* what) {
    const auto low = static_cast<std::size_t>(least);
    if (found >= low && (most < 0 || found <= static_cast<std::size_t>(most))) return;
    throw Error(ErrorKind::invalid,
                std::string(to_string(node.op)) + " expects " +
                    arity(low, static_cast<std::size_t>(most), most < 0) + " " + what + ", found " +
                    std::to_string(found),
                "the model's node does not fit its operator; export it again");
  };
  // Trailing omitted inputs may be cut off, operands that became attributes too.
  std::size_t least = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].valid()) least = i + 1;
  }
  if (wanted.max_inputs >= 0) check(least, 0, wanted.max_inputs, "inputs");
  check(node.inputs.size(), wanted.min_inputs, -1, "inputs");
  check(node.outputs.size(), wanted.min_outputs, wanted.max_outputs, "outputs");
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].valid() || may_be_omitted(node, i)) continue;
    throw Error(ErrorKind::invalid,
                std::string(to_string(node.op)) + " expects input " + std::to_string(i) +
                    ", found it omitted",
                "the model's node does not fit its operator; export it again");
  }
}

// Types of less than a byte, and complex ones, are moved, converted and quantised, and nothing is
// computed on them; of strings there is no order.
void check_computes(const Graph& graph, const Node& node) {
  bool ordered = false;
  switch (node.op) {
    case OpKind::arg_reduce:
    case OpKind::cum_sum:
    case OpKind::matmul:
    case OpKind::matmul_integer:
    case OpKind::range:
    case OpKind::reduce:
    case OpKind::reduce_dynamic:
    case OpKind::top_k:
      ordered = true;
      break;
    case OpKind::binary:
      break;
    case OpKind::unary:
      if (node.attrs.text("fn", "identity") == "identity") return;
      ordered = true;
      break;
    default:
      return;
  }
  for (const ValueId input : node.inputs) {
    if (!input.valid()) continue;
    const DataType type = graph.value(input).dtype;
    if (type == DataType::undefined ||
        !(is_sub_byte(type) || is_complex(type) || (ordered && type == DataType::string))) {
      continue;
    }
    throw Error(ErrorKind::unsupported,
                "nothing is computed on elements of " + std::string(concord::to_string(type)),
                "convert them to another type first");
  }
}

void infer(Graph& graph, NodeId id) {
  try {
    check_arity(graph.node(id));
    check_computes(graph, graph.node(id));
    schema(graph.node(id).op).infer(graph, id);
    const Node& node = graph.node(id);
    check_extents(node, [&](std::size_t i) {
      const bool known = node.has_input(i) && graph.value(node.inputs[i]).shape;
      return known ? &*graph.value(node.inputs[i]).shape : nullptr;
    });
  } catch (const Error& e) {
    throw e.with_context(describe(graph.node(id)));
  }
}

void infer(Graph& graph) {
  for (const NodeId id : std::vector<NodeId>(graph.order())) infer(graph, id);
}

}  // namespace concord::graph
