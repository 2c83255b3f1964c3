#include <gtest/gtest.h>

#include "backends/session.h"
#include "graph/error.h"

namespace concord {
namespace {

using graph::Graph;
using graph::Node;
using graph::OpKind;
using graph::ValueId;

ValueId binary(Graph& graph, const std::string& fn, ValueId a, ValueId b, DataType dtype,
               const SymShape& shape) {
  const ValueId y = graph.add_value(fn + "_of", dtype, shape);
  Node node;
  node.op = OpKind::binary;
  node.inputs = {a, b};
  node.outputs = {y};
  node.attrs.set("fn", fn);
  graph.add_node(std::move(node));
  return y;
}

// x (any length) doubled while its first element is below a limit; every state is scanned out.
std::shared_ptr<Graph> doubling_loop() {
  const SymShape shape = {Dim::symbol("n")};
  Graph body;
  const ValueId trip = body.add_value("trip", DataType::i64, SymShape{});
  const ValueId condition = body.add_value("condition", DataType::boolean, SymShape{});
  const ValueId state = body.add_value("state", DataType::f32, shape);
  body.inputs = {trip, condition, state};
  const ValueId twice = binary(body, "add", state, state, DataType::f32, shape);
  body.outputs = {condition, twice, twice};
  auto graph = std::make_shared<Graph>();
  const ValueId limit = graph->add_value("limit", DataType::i64, SymShape{});
  const ValueId x = graph->add_value("x", DataType::f32, shape);
  graph->inputs = {limit, x};
  const ValueId last = graph->add_value("last", DataType::f32, shape);
  const ValueId all =
      graph->add_value("all", DataType::f32, SymShape{Dim::fresh_dynamic("trips"), shape[0]});
  Node loop;
  loop.op = OpKind::loop;
  loop.inputs = {limit, ValueId{}, x};
  loop.outputs = {last, all};
  loop.attrs.set("carried", std::int64_t{1});
  loop.bodies.push_back(std::move(body));
  graph->add_node(std::move(loop));
  graph->outputs = {last, all};
  return graph;
}

TEST(ControlFlow, LoopCarriesAndScans) {
  for (const char* spec : {"reference", "cpu"}) {
    Session session(doubling_loop(), spec);
    for (const std::int64_t trips : {0, 1, 3}) {
      const std::vector<float> x = {1, -2};
      const auto outputs = session.run({{"limit", Tensor::scalar<std::int64_t>(trips)},
                                        {"x", Tensor::of<float>({2}, std::span<const float>(x))}});
      const double factor = static_cast<double>(1 << trips);
      EXPECT_EQ(outputs[0].at_double(0), factor) << spec;
      EXPECT_EQ(outputs[0].at_double(1), -2 * factor) << spec;
      EXPECT_EQ(outputs[1].shape(), (Shape{trips, 2})) << spec;
      if (trips == 3) {
        EXPECT_EQ(outputs[1].at_double(0), 2) << spec;
        EXPECT_EQ(outputs[1].at_double(5), -16) << spec;
      }
    }
  }
}

// One branch adds what it captured, the other subtracts it.
std::shared_ptr<Graph> two_branches() {
  const SymShape shape = {Dim::symbol("n")};
  auto graph = std::make_shared<Graph>();
  const ValueId condition = graph->add_value("condition", DataType::boolean, SymShape{});
  const ValueId a = graph->add_value("a", DataType::f32, shape);
  const ValueId b = graph->add_value("b", DataType::f32, shape);
  graph->inputs = {condition, a, b};
  const ValueId y = graph->add_value("y", DataType::f32, shape);
  Node node;
  node.op = OpKind::if_then_else;
  node.inputs = {condition, a, b};
  node.outputs = {y};
  for (const char* fn : {"add", "sub"}) {
    Graph body;
    const ValueId x = body.add_value("a", DataType::f32, shape);
    const ValueId z = body.add_value("b", DataType::f32, shape);
    body.inputs = {x, z};
    body.outputs = {binary(body, fn, x, z, DataType::f32, shape)};
    node.bodies.push_back(std::move(body));
  }
  graph->add_node(std::move(node));
  graph->outputs = {y};
  return graph;
}

TEST(ControlFlow, IfTakesTheBranchThatTheConditionSays) {
  const std::vector<float> a = {5, 6, 7};
  const std::vector<float> b = {1, 2, 3};
  for (const char* spec : {"reference", "cpu"}) {
    Session session(two_branches(), spec);
    for (const bool condition : {true, false}) {
      const auto outputs = session.run({{"condition", Tensor::scalar<bool>(condition)},
                                        {"a", Tensor::of<float>({3}, std::span<const float>(a))},
                                        {"b", Tensor::of<float>({3}, std::span<const float>(b))}});
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(outputs[0].at_double(static_cast<std::int64_t>(i)),
                  condition ? a[i] + b[i] : a[i] - b[i])
            << spec;
      }
    }
  }
}

}  // namespace
}  // namespace concord
