#include "tests/cpu_backend/small_graph.h"

#include <random>

#include "graph/schema.h"

namespace concord::cpu {

using graph::OpKind;
using graph::ValueId;

ValueId SmallGraph::input(const std::string& name, DataType dtype, SymShape shape) {
  const ValueId id = graph_->add_value(name, dtype, std::move(shape));
  graph_->inputs.push_back(id);
  return id;
}

ValueId SmallGraph::weight(Shape shape, float scale) {
  Tensor tensor = random_tensor(std::move(shape), static_cast<unsigned>(++weights_));
  for (float& v : tensor.as_mutable<float>()) v *= scale;
  return constant(std::move(tensor));
}

ValueId SmallGraph::constant(Tensor tensor) {
  return graph_->add_constant("constant" + std::to_string(graph_->value_count()),
                              std::move(tensor));
}

std::vector<ValueId> SmallGraph::nodes(OpKind op, std::vector<ValueId> inputs,
                                       graph::Attributes attrs, int outputs) {
  graph::Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  node.name = "n" + std::to_string(graph_->node_count());
  for (int i = 0; i < outputs; ++i) {
    node.outputs.push_back(
        graph_->add_value("v" + std::to_string(graph_->value_count()), DataType::undefined));
  }
  std::vector<ValueId> results = node.outputs;
  graph::infer(*graph_, graph_->add_node(std::move(node)));
  return results;
}

ValueId SmallGraph::node(OpKind op, std::vector<ValueId> inputs, graph::Attributes attrs) {
  return nodes(op, std::move(inputs), std::move(attrs), 1)[0];
}

ValueId SmallGraph::matmul(ValueId x, ValueId w, bool trans_b) {
  return node(
      OpKind::matmul, {x, w},
      {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{trans_b ? 1 : 0}}, {"alpha", 1.0}});
}

ValueId SmallGraph::unary(ValueId x, const std::string& fn) {
  return node(OpKind::unary, {x}, {{"fn", fn}, {"alpha", 0.0}, {"beta", 0.0}});
}

ValueId SmallGraph::binary(ValueId a, ValueId b, const std::string& fn) {
  return node(OpKind::binary, {a, b}, {{"fn", fn}});
}

ValueId SmallGraph::reshape(ValueId x, SymShape shape) {
  return node(OpKind::reshape, {x}, {{"shape", std::move(shape)}, {"allow_zero", std::int64_t{0}}});
}

ValueId SmallGraph::transpose(ValueId x, std::vector<std::int64_t> perm) {
  return node(OpKind::transpose, {x}, {{"perm", std::move(perm)}});
}

Tensor random_tensor(Shape shape, unsigned seed) {
  Tensor tensor(DataType::f32, std::move(shape));
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (float& v : tensor.as_mutable<float>()) v = normal(random);
  return tensor;
}

std::vector<Tensor> run_once(Program& program, const Bindings& bindings,
                             const std::vector<Tensor>& inputs, TapSink* taps) {
  std::vector<Tensor> outputs;
  program.plan(bindings)->run({.inputs = inputs, .outputs = &outputs, .taps = taps});
  return outputs;
}

}  // namespace concord::cpu
