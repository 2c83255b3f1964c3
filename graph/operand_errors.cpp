#include "graph/operand_errors.h"

#include <set>

namespace concord::graph {
namespace {

// Longer lists are data rather than extents.
constexpr std::int64_t kMostTold = 16;

std::string quoted(const Graph& graph, ValueId id) {
  return "'" + graph.value(id).name + "'";
}

bool names(const std::string& message, const std::string& name) {
  return message.find(name) != std::string::npos;
}

// Operators whose first operand decides the result's extents too.
bool is_made_from_extents(OpKind op) {
  return op == OpKind::range || op == OpKind::constant_of || op == OpKind::random;
}

// Arithmetic on shapes may grow long.
std::string shortened(std::string text) {
  constexpr std::size_t most = 80;
  if (text.size() <= most) return text;
  return text.substr(0, most) + " …";
}

}  // namespace

int checked_operand(const Node& node) {
  switch (node.op) {
    case OpKind::cum_prod:
    case OpKind::cum_sum:
    case OpKind::gather:
    case OpKind::gather_elements:
    case OpKind::gather_nd:
    case OpKind::reverse_sequence:
    case OpKind::scatter_elements:
    case OpKind::scatter_nd:
      return 1;
    case OpKind::roi_align:
      return 2;
    case OpKind::rotary:
      return 3;
    case OpKind::binary: {
      const std::string& fn = node.attrs.text("fn");
      return fn == "div" || fn == "mod" || fn == "fmod" ? 1 : -1;
    }
    default:
      return -1;
  }
}

Error at_node(const Error& error, const Graph& graph, const Node& node) {
  const int operand = checked_operand(node);
  const auto i = static_cast<std::size_t>(operand);
  if (operand >= 0 && error.kind() == ErrorKind::invalid && node.has_input(i) &&
      is_integer(graph.value(node.input(i)).dtype)) {
    const std::string name = quoted(graph, node.input(i));
    if (name != "''" && !names(error.what(), name))
      return error.with_context(describe(node) + ": " + name);
  }
  return error.with_context(describe(node));
}

Error with_operands(const Error& error, const Graph& graph, const Node& node,
                    std::span<const Tensor> inputs) {
  // Of control flow the node within is told.
  if (error.kind() != ErrorKind::invalid || !node.bodies.empty()) return error;
  std::string text = error.what();
  for (std::size_t i = is_made_from_extents(node.op) ? 0 : 1; i < inputs.size(); ++i) {
    const Tensor& tensor = inputs[i];
    if (static_cast<int>(i) == checked_operand(node) || !node.has_input(i) || !tensor.defined() ||
        !is_integer(tensor.dtype()) || tensor.rank() > 1 || tensor.count() > kMostTold) {
      continue;
    }
    const std::string name = quoted(graph, node.input(i));
    if (name == "''" || names(error.what(), name)) continue;
    const std::vector<std::int64_t> values = tensor.ints();
    text += "; " + name + " is " +
            (tensor.rank() == 0 ? std::to_string(values.front())
                                : concord::to_string(std::span<const std::int64_t>(values)));
  }
  // The hint may be of inference, which blames the model.
  const bool told = text != error.what();
  return Error(error.kind(), text,
               told ? "these values are known only when it runs: check the inputs" : error.hint());
}

Error no_value(const Dim& dim, const Bindings& bindings) {
  std::set<std::string> symbols;
  dim.collect_symbols(symbols);
  for (const std::string& symbol : symbols) {
    if (bindings.contains(symbol)) continue;
    return Error(ErrorKind::usage,
                 "the extent " + shortened(dim.to_string()) + " needs a value for " + symbol,
                 "give every symbolic dimension a value");
  }
  return Error(ErrorKind::invalid,
               "the extent " + shortened(dim.to_string()) + " is beyond 64 bits",
               "use smaller sizes");
}

}  // namespace concord::graph
