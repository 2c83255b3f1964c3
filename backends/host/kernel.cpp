#include "backends/host/kernel.h"

#include "backends/host/elements.h"
#include "graph/error.h"
#include "graph/operand_errors.h"

namespace concord::host {

void fail(const std::string& message, std::string hint) {
  throw Error(ErrorKind::invalid, message, std::move(hint));
}

const Tensor& Call::input(std::size_t i) const {
  if (!has(i)) {
    throw Error(ErrorKind::failed,
                "internal: " + graph::describe(node) + " lacks operand " + std::to_string(i));
  }
  return inputs[i];
}

std::string Call::name_of(std::size_t i) const {
  if (node.has_input(i)) {
    const std::string& name = graph.value(node.input(i)).name;
    if (!name.empty()) return "'" + name + "'";
  }
  return "operand " + std::to_string(i);
}

std::optional<std::vector<std::int64_t>> Call::find_list(std::string_view attribute,
                                                         std::size_t operand) const {
  if (const graph::AttrValue* value = node.attrs.find(attribute)) {
    if (const auto* ints = std::get_if<std::vector<std::int64_t>>(value)) return *ints;
    const SymShape& dims = node.attrs.dims(attribute);
    std::vector<std::int64_t> known;
    for (const Dim& dim : dims) {
      const auto number = dim.evaluate(bindings);
      if (!number) throw graph::no_value(dim, bindings);
      known.push_back(*number);
    }
    return known;
  }
  if (has(operand)) return inputs[operand].ints();
  return std::nullopt;
}

std::vector<std::int64_t> Call::list(std::string_view attribute, std::size_t operand) const {
  auto values = find_list(attribute, operand);
  if (!values) {
    throw Error(ErrorKind::failed, "internal: " + graph::describe(node) +
                                       " has neither attribute '" + std::string(attribute) +
                                       "' nor operand " + std::to_string(operand));
  }
  return *std::move(values);
}

std::int64_t Call::integer(std::string_view attribute, std::size_t operand) const {
  if (const graph::AttrValue* value = node.attrs.find(attribute)) {
    if (const auto* one = std::get_if<std::int64_t>(value)) return *one;
  }
  const std::vector<std::int64_t> values = list(attribute, operand);
  if (values.size() != 1) {
    fail(name_of(operand) + " must hold one element and holds " + std::to_string(values.size()));
  }
  return values[0];
}

std::size_t Call::axis(std::int64_t rank) const {
  const std::int64_t value = node.attrs.integer("axis");
  if (value < 0 || value >= rank) {
    fail("axis " + std::to_string(value) + " does not exist in a tensor of rank " +
         std::to_string(rank));
  }
  return static_cast<std::size_t>(value);
}

DataType operand_type(const graph::Graph& graph, const graph::Node& node, std::size_t i) {
  return node.has_input(i) ? graph.value(node.input(i)).dtype : DataType::undefined;
}

std::optional<std::string> only_exact_types(const graph::Graph& graph, const graph::Node& node) {
  const DataType dtype = operand_type(graph, node);
  if (is_integer(dtype) || dtype == DataType::boolean) return std::nullopt;
  return "computes in " + std::string(concord::to_string(dtype)) + ", which the host does not";
}

std::int64_t checked_index(const Call& call, std::size_t operand, std::int64_t element,
                           std::int64_t index, std::int64_t extent) {
  if (index >= -extent && index < extent) return index < 0 ? index + extent : index;
  const Shape position = position_of(element, call.input(operand).shape());
  fail("index " + std::to_string(index) + " at " +
       to_string(std::span<const std::int64_t>(position)) + " of " + call.name_of(operand) +
       " is out of range for an axis of " + std::to_string(extent) +
       (extent == 1 ? " element" : " elements"));
}

}  // namespace concord::host
