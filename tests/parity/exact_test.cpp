#include "parity/exact.h"

#include <cmath>

#include <gtest/gtest.h>

#include "graph/schema.h"
#include "importer/importer.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::Node;
using graph::OpKind;

Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor::of<float>(std::move(shape), std::span<const float>(values));
}

// Whether a·b is exact.
bool exact_product(const Tensor& a, const Tensor& b, graph::Attributes attrs = {}) {
  Graph graph;
  Node node;
  node.op = OpKind::matmul;
  attrs.set("trans_a", std::int64_t{0});
  attrs.set("trans_b", std::int64_t{0});
  if (!attrs.has("alpha")) attrs.set("alpha", 1.0);
  node.attrs = attrs;
  for (const Tensor* t : {&a, &b}) {
    node.inputs.push_back(
        graph.add_value("x", t->dtype(), SymShape(t->shape().begin(), t->shape().end())));
  }
  node.outputs.push_back(graph.add_value("y", DataType::f32));
  const graph::NodeId id = graph.add_node(node);
  return is_exact(graph, graph.node(id), {a, b}, {}, {});
}

TEST(Exact, IntegersInsideTheSignificand) {
  const Tensor a = floats({1, 2}, {3, -4});
  EXPECT_TRUE(exact_product(a, floats({2, 1}, {5, 6})));
  EXPECT_TRUE(exact_product(a, floats({2, 1}, {5, 6}), {{"alpha", 0.5}}));
  EXPECT_TRUE(exact_product(a, floats({2, 1}, {5, 6}), {{"activation", std::string("relu")}}));
}

TEST(Exact, NotWhatMustRound) {
  const Tensor a = floats({1, 2}, {3, -4});
  EXPECT_FALSE(exact_product(a, floats({2, 1}, {0.5f, 6})));
  EXPECT_FALSE(exact_product(a, floats({2, 1}, {5, 6}), {{"alpha", 0.3}}));
  EXPECT_FALSE(exact_product(a, floats({2, 1}, {5, 6}), {{"activation", std::string("tanh")}}));
  // 2^23 · 3: the sum of magnitudes leaves 24 bits, though the difference does not.
  EXPECT_FALSE(exact_product(floats({1, 2}, {3, -3}), floats({2, 1}, {0x1p23f, 0x1p23f})));
}

TEST(Exact, WeightsAndInputsAreTheSameIntegersEveryTime) {
  const auto imported = importer::load(CONCORD_SOURCE_DIR "/models/mobilenet_s__dynamo20").graph;
  const auto a = with_integer_weights(imported);
  const auto b = with_integer_weights(imported);
  std::size_t weights = 0;
  for (std::size_t i = 0; i < a->value_count(); ++i) {
    const graph::ValueId id{static_cast<std::int32_t>(i)};
    const auto& tensor = a->value(id).constant;
    if (!tensor || tensor->dtype() != DataType::f32 || tensor->count() < 2) continue;
    ++weights;
    ASSERT_TRUE(identical(*tensor, *b->value(id).constant));
    for (const float v : tensor->as<float>()) ASSERT_EQ(v, std::floor(v));
  }
  EXPECT_GT(weights, 20u);
  const Tensor x = integer_inputs({floats({2}, {0.3f, 0.7f})})[0];
  for (const float v : x.as<float>()) EXPECT_EQ(v, std::floor(v));
}

TEST(Exact, MostlyZero) {
  EXPECT_TRUE(mostly_zero(floats({3}, {0, 1, 0})));
  EXPECT_FALSE(mostly_zero(floats({2}, {0, 1})));
}

}  // namespace
}  // namespace concord::parity
