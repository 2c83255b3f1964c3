#include <map>

#include "backends/reference/evaluate_graph.h"
#include "backends/reference/noise.h"
#include "backends/reference/reference_backend.h"
#include "tests/reference/oracle_case.h"

namespace concord::test {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

Node make(OpKind op, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
          graph::Attributes attrs = {}) {
  Node node;
  node.op = op;
  node.name = "made_" + std::to_string(outputs.empty() ? 0 : outputs[0].index);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attrs = std::move(attrs);
  return node;
}

ValueId add_binary(Graph& g, const char* fn, ValueId a, ValueId b, DataType type = DataType::f32) {
  const ValueId y = g.add_value(std::string(fn) + std::to_string(g.value_count()), type);
  g.add_node(make(OpKind::binary, {a, b}, {y}, {{"fn", std::string(fn)}}));
  return y;
}

// y = (x + 0.1)·x, x [n].
struct Small {
  Graph graph;
  ValueId x, c, sum, y;
  Small() {
    x = graph.add_value("x", DataType::f32, SymShape{Dim::symbol("n")});
    c = graph.add_constant("c", f32({}, {0.1f}));
    sum = add_binary(graph, "add", x, c);
    y = add_binary(graph, "mul", sum, x);
    graph.inputs = {x};
    graph.outputs = {y};
  }
};

TEST(EvaluateGraph, RoundsNothingOnTheWay) {
  const Small small;
  const std::vector<Tensor> inputs{f32({2}, {1, 2})};
  std::map<std::int32_t, std::string> seen;
  reference::GraphOptions options;
  options.on_value = [&](ValueId id, const OracleValue& value) {
    seen[id.index] = shown(value.value);
  };
  std::size_t last = 0;
  options.on_progress = [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(total, 2u);
    last = done;
  };
  const auto y = reference::evaluate_graph(small.graph, inputs, {}, options);
  const double c = static_cast<double>(0.1f);
  expect_values(y[0], {2}, {1 + c, (2 + c) * 2}, 1e-16);
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen.at(small.x.index), "float64[2]{1, 2}");
  EXPECT_EQ(last, 2u);
}

TEST(EvaluateGraph, NamesTheNodeThatFails) {
  Graph g;
  const ValueId x = g.add_value("x", DataType::i64, SymShape{Dim::symbol("n")});
  const ValueId zero = g.add_constant("zero", i64({}, {0}));
  g.inputs = {x};
  g.outputs = {add_binary(g, "div", x, zero, DataType::i64)};
  try {
    reference::evaluate_graph(g, std::vector<Tensor>{i64({1}, {1})}, {});
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_NE(std::string(error.what()).find("made_2"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'zero'"), std::string::npos) << error.what();
  }
}

TEST(EvaluateGraph, BindsExtentsThatOnlyTheRunKnows) {
  // nonzero gives [1, ?n]; broadcast to a shape that is made of ?n.
  Graph g;
  const Dim n = Dim::fresh_dynamic("n");
  const ValueId x = g.add_value("x", DataType::boolean, SymShape{Dim::symbol("m")});
  const ValueId places = g.add_value("places", DataType::i64, SymShape{1, n});
  g.add_node(make(OpKind::nonzero, {x}, {places}));
  const ValueId one = g.add_constant("one", f32({}, {1}));
  const ValueId y = g.add_value("y", DataType::f32, SymShape{2, n});
  g.add_node(make(OpKind::broadcast, {one}, {y}, {{"shape", SymShape{2, n}}}));
  g.inputs = {x};
  g.outputs = {y, places};
  const auto out =
      reference::evaluate_graph(g, std::vector<Tensor>{bools({3}, {true, false, true})}, {});
  EXPECT_EQ(shown(out[0].value), "float64[2, 2]{1, 1, 1, 1}");
}

TEST(EvaluateGraph, ContradictoryInputs) {
  Graph g;
  const ValueId a = g.add_value("a", DataType::f32, SymShape{Dim::symbol("n")});
  const ValueId b = g.add_value("b", DataType::f32, SymShape{Dim::symbol("n")});
  g.inputs = {a, b};
  g.outputs = {add_binary(g, "add", a, b)};
  const std::vector<Tensor> inputs{f32({2}, {1, 2}), f32({3}, {1, 2, 3})};
  EXPECT_THROW(reference::evaluate_graph(g, inputs, {}), Error);
}

TEST(EvaluateGraph, Branches) {
  Graph g;
  const ValueId condition = g.add_value("condition", DataType::boolean, SymShape{});
  const ValueId x = g.add_value("x", DataType::f32, SymShape{});
  const ValueId y = g.add_value("y", DataType::f32, SymShape{});
  Node node = make(OpKind::if_then_else, {condition, x}, {y});
  for (const char* fn : {"add", "mul"}) {
    Graph body;
    const ValueId inner = body.add_value("x", DataType::f32, SymShape{});
    const ValueId ten = body.add_constant("ten", f32({}, {10}));
    body.inputs = {inner};
    body.outputs = {add_binary(body, fn, inner, ten)};
    node.bodies.push_back(std::move(body));
  }
  g.add_node(std::move(node));
  g.inputs = {condition, x};
  g.outputs = {y};
  const auto run = [&](bool taken) {
    const std::vector<Tensor> inputs{bools({}, {taken}), f32({}, {3})};
    return reference::evaluate_graph(g, inputs, {})[0].value.at_double(0);
  };
  EXPECT_EQ(run(true), 13);
  EXPECT_EQ(run(false), 30);
}

// Carried sum ← sum + x until it reaches a limit; scanned: the sums.
Graph counting_loop() {
  Graph g;
  const ValueId trips = g.add_value("trips", DataType::i64, SymShape{});
  const ValueId start = g.add_value("start", DataType::f32, SymShape{});
  const ValueId limit = g.add_value("limit", DataType::f32, SymShape{});
  const ValueId total = g.add_value("total", DataType::f32, SymShape{});
  const ValueId sums = g.add_value("sums", DataType::f32, SymShape{Dim::fresh_dynamic("trips")});
  Graph body;
  const ValueId iteration = body.add_value("i", DataType::i64, SymShape{});
  const ValueId going = body.add_value("going", DataType::boolean, SymShape{});
  const ValueId sum = body.add_value("sum", DataType::f32, SymShape{});
  const ValueId most = body.add_value("most", DataType::f32, SymShape{});
  const ValueId step = body.add_constant("step", f32({}, {2}));
  const ValueId next = add_binary(body, "add", sum, step);
  const ValueId more = add_binary(body, "less", next, most, DataType::boolean);
  body.inputs = {iteration, going, sum, most};
  body.outputs = {more, next, next};
  Node node = make(OpKind::loop, {trips, {}, start, limit}, {total, sums}, {{"carried", 1L}});
  node.bodies.push_back(std::move(body));
  g.add_node(std::move(node));
  g.inputs = {trips, start, limit};
  g.outputs = {total, sums};
  return g;
}

TEST(EvaluateGraph, Loops) {
  const Graph g = counting_loop();
  const auto run = [&](std::int64_t trips) {
    const std::vector<Tensor> inputs{i64({}, {trips}), f32({}, {1}), f32({}, {7})};
    return reference::evaluate_graph(g, inputs, {});
  };
  EXPECT_EQ(shown(run(2)[1].value), "float64[2]{3, 5}");
  EXPECT_EQ(shown(run(100)[1].value), "float64[3]{3, 5, 7}");
  EXPECT_EQ(shown(run(100)[0].value), "float64[]{7}");
  EXPECT_EQ(shown(run(0)[1].value), "float64[0]{}");
}

TEST(EvaluateGraph, Scans) {
  // state ← state + slice; outputs the states, latest first.
  Graph g;
  const ValueId start = g.add_value("start", DataType::f32, SymShape{2});
  const ValueId xs = g.add_value("xs", DataType::f32, SymShape{2, 3});
  const ValueId last = g.add_value("last", DataType::f32, SymShape{2});
  const ValueId states = g.add_value("states", DataType::f32, SymShape{3, 2});
  Graph body;
  const ValueId state = body.add_value("state", DataType::f32, SymShape{2});
  const ValueId x = body.add_value("x", DataType::f32, SymShape{2});
  const ValueId next = add_binary(body, "add", state, x);
  body.inputs = {state, x};
  body.outputs = {next, next};
  Node node =
      make(OpKind::scan, {start, xs}, {last, states},
           {{"states", 1L}, {"scans", 1L}, {"axes", ints({1, 0})}, {"directions", ints({0, 1})}});
  node.bodies.push_back(std::move(body));
  g.add_node(std::move(node));
  g.inputs = {start, xs};
  g.outputs = {last, states};
  const std::vector<Tensor> inputs{f32({2}, {0, 0}), f32({2, 3}, {1, 2, 3, 10, 20, 30})};
  const auto out = reference::evaluate_graph(g, inputs, {});
  EXPECT_EQ(shown(out[0].value), "float64[2]{6, 60}");
  EXPECT_EQ(shown(out[1].value), "float64[3, 2]{6, 60, 3, 30, 1, 10}");
}

TEST(Noise, IsNormalAndTheSameEverywhere) {
  double sum = 0;
  double squares = 0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double v = reference::normal_number(7, static_cast<std::uint64_t>(i));
    sum += v;
    squares += v * v;
    ASSERT_LE(std::abs(v), 6);
  }
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(squares / n, 1, 0.02);
  // Integer arithmetic only: the exact value holds on every machine.
  EXPECT_EQ(reference::normal_number(1, 2), 117204.0 / 65536);
  EXPECT_NE(reference::normal_number(1, 2), reference::normal_number(2, 2));
}

TEST(Noise, MovesValuesByTheirSpread) {
  Small small;
  const std::int64_t n = 10000;
  Tensor x(DataType::f32, {n});
  for (float& v : x.as_mutable<float>()) v = 1;
  const std::vector<Tensor> inputs{x};
  reference::GraphOptions options;
  const auto clean = reference::evaluate_graph(small.graph, inputs, {}, options);
  options.noise = reference::Noise{5};
  const auto noisy = reference::evaluate_graph(small.graph, inputs, {}, options);
  const auto again = reference::evaluate_graph(small.graph, inputs, {}, options);
  options.noise = reference::Noise{6};
  const auto other = reference::evaluate_graph(small.graph, inputs, {}, options);
  EXPECT_TRUE(identical(noisy[0].value, again[0].value));
  EXPECT_FALSE(identical(noisy[0].value, other[0].value));
  double squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double d = noisy[0].value.at_double(i) - clean[0].value.at_double(i);
    squares += d * d;
  }
  // Two steps, each of σ = u·1.1 and a store of u·1.1/√3.
  const double expected = 1.1 * 0x1p-24 * std::sqrt(2 * (1 + 1.0 / 3));
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(n)) / expected, 1, 0.05);
  EXPECT_FALSE(noisy[0].sigma.defined());
}

TEST(Fold, GivesRoundedConstantsOrNothing) {
  const std::vector<Tensor> inputs{f32({1}, {1}), f32({1}, {0x1p-30f})};
  const OneNode add =
      one_node(OpKind::binary, inputs, {{"fn", std::string("add")}}, {DataType::f32});
  EXPECT_EQ(shown(reference::fold(add.graph, add.node(), inputs).at(0)), "float32[1]{1}");
  const std::vector<Tensor> bad{i64({1}, {1}), i64({1}, {0})};
  const OneNode div = one_node(OpKind::binary, bad, {{"fn", std::string("div")}}, {DataType::i64});
  EXPECT_TRUE(reference::fold(div.graph, div.node(), bad).empty());
  const std::vector<Tensor> moved{f32({2}, {0.1f, 2})};
  const OneNode reshape =
      one_node(OpKind::reshape, moved, {{"shape", SymShape{2, 1}}}, {DataType::f32});
  EXPECT_TRUE(identical(reference::fold(reshape.graph, reshape.node(), moved).at(0),
                        f32({2, 1}, {0.1f, 2})));
}

TEST(Backend, RunsThroughTheInterface) {
  const Small small;
  auto backend = reference::make_backend({});
  EXPECT_EQ(backend->name(), "reference");
  const auto shared = std::make_shared<const Graph>(small.graph);
  const auto program = backend->compile(shared, {});
  const auto plan = program->plan({{"n", 1}});
  ASSERT_EQ(plan->steps().size(), 2u);
  struct Taps final : TapSink {
    bool wants(ValueId id) const override { return id == wanted; }
    void take(ValueId, Tensor tensor) override { taken = std::move(tensor); }
    ValueId wanted;
    Tensor taken;
  } taps;
  taps.wanted = small.sum;
  const std::vector<Tensor> inputs{f32({1}, {2})};
  std::vector<Tensor> outputs;
  std::vector<double> times;
  RunArgs args;
  args.inputs = inputs;
  args.outputs = &outputs;
  args.taps = &taps;
  args.step_ms = &times;
  plan->run(args);
  const double c = static_cast<double>(0.1f);
  EXPECT_EQ(outputs.at(0).as<float>()[0], static_cast<float>((2 + c) * 2));
  EXPECT_EQ(taps.taken.as<float>()[0], static_cast<float>(2 + c));
  EXPECT_EQ(times.size(), 2u);
}

}  // namespace
}  // namespace concord::test
