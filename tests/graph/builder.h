#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/schema.h"

namespace concord::graph {

// Writes small graphs; each node's outputs are inferred as it is added.
class Builder {
 public:
  Graph graph;

  ValueId input(const std::string& name, DataType dtype, SymShape shape) {
    const ValueId id = graph.add_value(name, dtype, std::move(shape));
    graph.inputs.push_back(id);
    return id;
  }
  ValueId constant(Tensor tensor) { return graph.add_constant({}, std::move(tensor)); }
  ValueId scalar(float value) { return constant(Tensor::scalar(value)); }
  ValueId ints(const std::vector<std::int64_t>& values) {
    return constant(Tensor::from_ints(values));
  }
  ValueId integer(std::int64_t value) { return constant(Tensor::scalar(value)); }
  // Elements from −1 to 1 that look random.
  static Tensor random(Shape shape, std::uint64_t seed = 1) {
    Tensor t(DataType::f32, std::move(shape));
    std::uint64_t state = seed * 7919;
    for (float& v : t.as_mutable<float>()) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      v = static_cast<float>(static_cast<double>(state >> 33) / 4294967296.0 * 4 - 1);
    }
    return t;
  }
  ValueId weights(Shape shape, std::uint64_t seed = 1) {
    return constant(random(std::move(shape), seed));
  }

  std::vector<ValueId> ops(OpKind op, std::vector<ValueId> inputs, Attributes attrs,
                           std::size_t outputs) {
    Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.attrs = std::move(attrs);
    node.name = "n" + std::to_string(graph.node_count());
    for (std::size_t o = 0; o < outputs; ++o) {
      node.outputs.push_back(
          graph.add_value("v" + std::to_string(graph.value_count()), DataType::undefined));
    }
    std::vector<ValueId> result = node.outputs;
    infer(graph, graph.add_node(std::move(node)));
    return result;
  }
  ValueId op(OpKind kind, std::vector<ValueId> inputs, Attributes attrs = {}) {
    return ops(kind, std::move(inputs), std::move(attrs), 1)[0];
  }
  ValueId unary(const std::string& fn, ValueId x, double alpha = 0, double beta = 0) {
    return op(OpKind::unary, {x}, {{"fn", fn}, {"alpha", alpha}, {"beta", beta}});
  }
  ValueId binary(const std::string& fn, ValueId a, ValueId b) {
    return op(OpKind::binary, {a, b}, {{"fn", fn}});
  }
  ValueId add(ValueId a, ValueId b) { return binary("add", a, b); }
  ValueId mul(ValueId a, ValueId b) { return binary("mul", a, b); }
  ValueId matmul(ValueId a, ValueId b) {
    return op(OpKind::matmul, {a, b},
              {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{0}}, {"alpha", 1.0}});
  }
  ValueId transpose(ValueId x, std::vector<std::int64_t> perm) {
    return op(OpKind::transpose, {x}, {{"perm", std::move(perm)}});
  }
  ValueId reshape(ValueId x, const std::vector<std::int64_t>& shape) {
    return op(OpKind::reshape, {x, ints(shape)}, {{"allow_zero", std::int64_t{0}}});
  }
  ValueId reshape_to(ValueId x, ValueId shape) {
    return op(OpKind::reshape, {x, shape}, {{"allow_zero", std::int64_t{0}}});
  }
  ValueId shape_of(ValueId x) {
    const auto rank = static_cast<std::int64_t>(graph.value(x).shape.value_or(SymShape{}).size());
    return op(OpKind::shape_of, {x}, {{"start", std::int64_t{0}}, {"end", rank}});
  }
  ValueId gather(ValueId x, ValueId indices, std::int64_t axis = 0) {
    return op(OpKind::gather, {x, indices}, {{"axis", axis}});
  }
  ValueId concat(std::vector<ValueId> inputs, std::int64_t axis) {
    return op(OpKind::concat, std::move(inputs), {{"axis", axis}});
  }
  ValueId slice(ValueId x, ValueId starts, ValueId ends, ValueId axes, ValueId steps = {}) {
    return op(OpKind::slice, {x, starts, ends, axes, steps});
  }
  ValueId slice(ValueId x, std::int64_t start, std::int64_t end, std::int64_t axis,
                std::int64_t step = 1) {
    return slice(x, ints({start}), ints({end}), ints({axis}), ints({step}));
  }
  ValueId mean(ValueId x, std::vector<std::int64_t> axes) {
    return op(
        OpKind::reduce, {x},
        {{"fn", std::string("mean")}, {"axes", std::move(axes)}, {"keepdims", std::int64_t{1}}});
  }
  ValueId softmax(ValueId x, std::int64_t axis) {
    return op(OpKind::softmax, {x},
              {{"axis", axis}, {"log", std::int64_t{0}}, {"nan_to_zero", std::int64_t{0}}});
  }
  ValueId range(ValueId start, ValueId limit, ValueId delta) {
    return op(OpKind::range, {start, limit, delta});
  }
  ValueId cast(ValueId x, DataType to) {
    return op(OpKind::cast, {x}, {{"to", to}, {"saturate", std::int64_t{1}}});
  }
  ValueId select(ValueId condition, ValueId a, ValueId b) {
    return op(OpKind::select, {condition, a, b});
  }
  ValueId broadcast(ValueId x, ValueId shape) { return op(OpKind::broadcast, {x, shape}); }
  void output(ValueId id, const std::string& name = {}) {
    if (!name.empty()) graph.value(id).name = name;
    graph.outputs.push_back(id);
  }

  const SymShape& shape(ValueId id) const { return *graph.value(id).shape; }
  std::string text(ValueId id) const { return concord::to_string(*graph.value(id).shape); }
};

}  // namespace concord::graph
