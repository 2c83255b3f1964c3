#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace concord::test {

// A graph of one node, without shapes: enough for what evaluates node by node.
struct OneNode {
  graph::Graph graph;
  graph::NodeId id;

  const graph::Node& node() const { return graph.node(id); }
};

// Undefined tensors are omitted operands. Operands are named x0, x1, …
inline OneNode one_node(graph::OpKind op, const std::vector<Tensor>& inputs,
                        graph::Attributes attrs, std::vector<DataType> outputs) {
  OneNode result;
  graph::Node node;
  node.op = op;
  node.name = "n";
  node.attrs = std::move(attrs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    node.inputs.push_back(inputs[i].defined()
                              ? result.graph.add_value("x" + std::to_string(i), inputs[i].dtype())
                              : graph::ValueId{});
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    node.outputs.push_back(result.graph.add_value("y" + std::to_string(i), outputs[i]));
  }
  result.id = result.graph.add_node(std::move(node));
  return result;
}

template <typename T>
Tensor tensor(Shape shape, std::initializer_list<T> values) {
  return Tensor::of<T>(std::move(shape), std::span<const T>(values.begin(), values.size()));
}
inline Tensor i64(Shape shape, std::initializer_list<std::int64_t> values) {
  return tensor<std::int64_t>(std::move(shape), values);
}
inline Tensor f32(Shape shape, std::initializer_list<float> values) {
  return tensor<float>(std::move(shape), values);
}
inline Tensor bools(Shape shape, std::initializer_list<bool> values) {
  Tensor result(DataType::boolean, std::move(shape));
  std::size_t i = 0;
  for (const bool value : values) result.as_mutable<bool>()[i++] = value;
  return result;
}
inline Tensor strings(Shape shape, std::initializer_list<const char*> values) {
  Tensor result(DataType::string, std::move(shape));
  std::size_t i = 0;
  for (const char* value : values) result.mutable_strings()[i++] = value;
  return result;
}

// "float32[2, 2]{1, 2, 3, 4}": what two tensors of a test are compared by.
inline std::string shown(const Tensor& t) {
  if (!t.defined()) return "undefined";
  std::string text =
      std::string(to_string(t.dtype())) + to_string(std::span<const std::int64_t>(t.shape())) + "{";
  for (std::int64_t i = 0; i < t.count(); ++i) {
    if (i != 0) text += ", ";
    if (t.dtype() == DataType::string) {
      text += t.strings()[static_cast<std::size_t>(i)];
    } else if (is_float(t.dtype())) {
      char buffer[40];
      std::snprintf(buffer, sizeof buffer, "%.9g", t.at_double(i));
      text += buffer;
    } else {
      text += std::to_string(t.at_int(i));
    }
  }
  return text + "}";
}

}  // namespace concord::test
