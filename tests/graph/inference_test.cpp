#include <limits>

#include <gtest/gtest.h>

#include "graph/error.h"
#include "tests/graph/builder.h"

namespace concord::graph {
namespace {

const Dim batch = Dim::symbol("batch");
const Dim seq = Dim::symbol("seq");
const Dim past = Dim::symbol("past");
constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

std::string contents(const Builder& b, ValueId id) {
  const auto& c = b.graph.value(id).contents;
  return c ? concord::to_string(*c) : "unknown";
}

TEST(Inference, FollowsShapeArithmetic) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {batch, seq, 64});
  const ValueId shape = b.shape_of(x);
  EXPECT_EQ(contents(b, shape), "[batch, seq, 64]");
  // TorchScript: Shape → Gather → Unsqueeze → Concat → Reshape.
  const ValueId n = b.reshape(b.gather(shape, b.integer(0)), {1});
  const ValueId s = b.reshape(b.gather(shape, b.integer(-2)), {1});
  const ValueId target = b.concat({n, s, b.ints({-1, 16})}, 0);
  EXPECT_EQ(contents(b, target), "[batch, seq, -1, 16]");
  const ValueId y = b.reshape_to(x, target);
  EXPECT_EQ(b.text(y), "[batch, seq, 4, 16]");
  EXPECT_EQ(b.graph.node(b.graph.value(y).producer).inputs.size(), 1u);
  // dynamo folds batch and heads into one axis.
  const ValueId t = b.transpose(y, {0, 2, 1, 3});
  const ValueId tail = b.slice(b.shape_of(t), -2, kEnd, 0);
  const ValueId folded = b.reshape_to(t, b.concat({b.ints({-1}), tail}, 0));
  EXPECT_EQ(b.text(folded), "[4*batch, seq, 16]");
}

TEST(Inference, ResolvesExpandsOfUnknownSizes) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {batch, 1, 1, seq});
  const ValueId dims = b.concat({b.slice(b.shape_of(x), 0, 1, 0), b.ints({-1}),
                                 b.slice(b.shape_of(x), 3, 4, 0), b.slice(b.shape_of(x), 3, 4, 0)},
                                0);
  const ValueId ones =
      b.op(OpKind::constant_of, {b.shape_of(dims)}, {{"value", Tensor::scalar<std::int64_t>(1)}});
  const ValueId minus = b.mul(ones, b.integer(-1));
  const ValueId size = b.select(b.binary("equal", dims, minus), ones, dims);
  EXPECT_EQ(contents(b, size), "[batch, 1, seq, seq]");
  EXPECT_EQ(b.text(b.broadcast(x, size)), "[batch, 1, seq, seq]");
}

TEST(Inference, GivesSlicesTheirExtents) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {batch, seq, 512});
  const ValueId p = b.input("p", DataType::f32, {past, 2});
  const ValueId n_past = b.slice(b.shape_of(p), 0, 1, 0);
  const ValueId n_seq = b.slice(b.shape_of(x), 1, 2, 0);
  const ValueId total = b.add(n_past, n_seq);
  EXPECT_EQ(b.text(b.slice(x, 0, kEnd, 1)), "[batch, seq, 512]");
  EXPECT_EQ(b.text(b.slice(x, 1, kEnd, 1)), "[batch, max(0, seq - 1), 512]");
  EXPECT_EQ(b.text(b.slice(x, -1, kEnd, 2)), "[batch, seq, 1]");
  EXPECT_EQ(b.text(b.slice(x, kEnd, std::numeric_limits<std::int64_t>::min(), 2, -1)),
            "[batch, seq, 512]");
  EXPECT_EQ(b.text(b.slice(x, 0, 512, 2, 3)), "[batch, seq, 171]");
  // Positions past … past + seq of a table that may be shorter.
  const ValueId rows = b.slice(x, n_past, total, b.ints({2}));
  EXPECT_EQ(b.shape(rows)[2].evaluate({{"past", 10}, {"seq", 3}}), 3);
  EXPECT_EQ(b.shape(rows)[2].evaluate({{"past", 510}, {"seq", 3}}), 2);
  EXPECT_EQ(b.shape(rows)[2].evaluate({{"past", 600}, {"seq", 3}}), 0);
  // All of it, counted from an end that is known.
  EXPECT_EQ(b.text(b.slice(x, b.ints({0}), n_seq, b.ints({1}))), "[batch, seq, 512]");
}

// The symbolic extent is what ONNX's clamping gives, for all starts, ends and steps.
TEST(Inference, SlicesAgreeWithTheirDefinition) {
  for (const std::int64_t step : {-3, -2, -1, 1, 2, 3}) {
    for (std::int64_t start = -6; start <= 6; ++start) {
      for (std::int64_t end = -6; end <= 6; ++end) {
        Builder b;
        const ValueId x = b.input("x", DataType::f32, {seq});
        const ValueId y = b.slice(x, start, end, 0, step);
        for (std::int64_t n = 0; n <= 5; ++n) {
          std::int64_t from = start < 0 ? start + n : start;
          std::int64_t to = end < 0 ? end + n : end;
          std::int64_t count = 0;
          if (step > 0) {
            from = std::clamp<std::int64_t>(from, 0, n);
            to = std::clamp<std::int64_t>(to, 0, n);
            for (std::int64_t i = from; i < to; i += step) ++count;
          } else if (n > 0) {
            from = std::clamp<std::int64_t>(from, 0, n - 1);
            to = std::clamp<std::int64_t>(to, -1, n - 1);
            for (std::int64_t i = from; i > to; i += step) ++count;
          }
          ASSERT_EQ(b.shape(y)[0].evaluate({{"seq", n}}), count)
              << "[" << start << ":" << end << ":" << step << "] of " << n << ": " << b.text(y);
        }
      }
    }
  }
}

TEST(Inference, KeepsUnknownRanksAndDynamicExtents) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {batch, seq});
  const ValueId found = b.op(OpKind::nonzero, {x});
  EXPECT_TRUE(b.shape(found)[1].has_dynamic());
  EXPECT_EQ(b.shape(found)[0], Dim(2));
  const std::string before = b.text(found);
  infer(b.graph);
  EXPECT_EQ(b.text(found), before);
  const ValueId size = b.input("size", DataType::i64, {3});
  EXPECT_EQ(b.shape(b.reshape_to(x, size)).size(), 3u);
  const ValueId rank = b.input("rank", DataType::i64, {batch});
  const ValueId y = b.reshape_to(x, rank);
  EXPECT_FALSE(b.graph.value(y).shape.has_value());
  EXPECT_FALSE(b.graph.value(b.unary("exp", y)).shape.has_value());
}

TEST(Inference, TurnsKnownOperandsIntoAttributes) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {batch, seq});
  const auto node = [&](ValueId id) -> const Node& {
    return b.graph.node(b.graph.value(id).producer);
  };
  const ValueId padded =
      b.op(OpKind::pad, {x, b.ints({1, 2}), {}, b.ints({-1})}, {{"mode", std::string("constant")}});
  EXPECT_EQ(b.text(padded), "[batch, seq + 3]");
  EXPECT_EQ(to_string(*node(padded).attrs.find("pads")), "[0, 1, 0, 2]");
  const ValueId tiled = b.op(OpKind::tile, {x, b.ints({2, 3})});
  EXPECT_EQ(b.text(tiled), "[2*batch, 3*seq]");
  const auto top = b.ops(
      OpKind::top_k, {x, b.ints({5})},
      {{"axis", std::int64_t{-1}}, {"largest", std::int64_t{1}}, {"sorted", std::int64_t{1}}}, 2);
  EXPECT_EQ(b.text(top[0]), "[batch, 5]");
  EXPECT_EQ(b.graph.value(top[1]).dtype, DataType::i64);
  const ValueId sum = b.op(
      OpKind::reduce_dynamic, {x, b.ints({-1})},
      {{"fn", std::string("sum")}, {"keepdims", std::int64_t{0}}, {"noop_empty", std::int64_t{0}}});
  EXPECT_EQ(node(sum).op, OpKind::reduce);
  EXPECT_EQ(b.text(sum), "[batch]");
  const ValueId range = b.range(b.integer(2), b.gather(b.shape_of(x), b.integer(1)), b.integer(3));
  EXPECT_EQ(b.shape(range)[0].evaluate({{"seq", 12}}), 4);
  EXPECT_FALSE(node(range).has_input(1));
  const ValueId hot =
      b.op(OpKind::one_hot,
           {b.cast(x, DataType::i64), b.integer(7), b.constant(Tensor::zeros(DataType::f32, {2}))},
           {{"axis", std::int64_t{-1}}});
  EXPECT_EQ(b.text(hot), "[batch, seq, 7]");
}

TEST(Inference, FindsWindowExtents) {
  Builder b;
  const Dim h = Dim::symbol("h");
  const ValueId x = b.input("x", DataType::f32, {batch, 3, h, h});
  const ValueId w = b.weights({8, 3, 3, 3});
  const auto conv = [&](const char* auto_pad, std::int64_t stride) {
    return b.op(OpKind::conv, {x, w},
                {{"strides", std::vector<std::int64_t>{stride, stride}},
                 {"pads", std::vector<std::int64_t>{1, 1, 1, 1}},
                 {"dilations", std::vector<std::int64_t>{1, 1}},
                 {"group", std::int64_t{1}},
                 {"auto_pad", std::string(auto_pad)}});
  };
  EXPECT_EQ(b.text(conv("notset", 1)), "[batch, 8, h, h]");
  EXPECT_EQ(b.text(conv("notset", 2)),
            "[batch, 8, floordiv(h - 1, 2) + 1, floordiv(h - 1, 2) + 1]");
  EXPECT_EQ(b.text(conv("same_upper", 1)), "[batch, 8, h, h]");
  EXPECT_EQ(b.shape(conv("same_upper", 2))[2].evaluate({{"h", 7}}), 4);
  EXPECT_EQ(b.shape(conv("valid", 1))[2].evaluate({{"h", 7}}), 5);
  const auto pool = b.ops(OpKind::pool, {x},
                          {{"fn", std::string("max")},
                           {"kernel", std::vector<std::int64_t>{3, 3}},
                           {"strides", std::vector<std::int64_t>{2, 2}},
                           {"ceil_mode", std::int64_t{1}},
                           {"auto_pad", std::string("notset")}},
                          2);
  EXPECT_EQ(b.shape(pool[0])[2].evaluate({{"h", 6}}), 3);
  EXPECT_EQ(b.shape(pool[0])[2].evaluate({{"h", 7}}), 3);
}

TEST(Inference, SaysWhatWasExpectedAndWhatWasFound) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {batch, 4});
  const ValueId i = b.input("i", DataType::i64, {batch, 4});
  const auto message = [&](auto&& f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid);
      return e.what();
    }
    return "no error";
  };
  EXPECT_NE(message([&] { b.add(x, i); }).find("float32 and int64"), std::string::npos);
  EXPECT_NE(message([&] { b.add(x, b.weights({3})); }).find("[batch, 4] and [3]"),
            std::string::npos);
  EXPECT_NE(message([&] {
              b.matmul(x, b.weights({3, 2}));
            }).find("inner extent"),
            std::string::npos);
  EXPECT_NE(message([&] {
              b.reshape(b.weights({2, 3}), {4, 2});
            }).find("6 elements"),
            std::string::npos);
  EXPECT_NE(message([&] {
              b.reshape(b.weights({2, 3}), {-1, 4});
            }).find("divides"),
            std::string::npos);
  EXPECT_NE(message([&] { b.transpose(x, {0, 0}); }).find("permutation"), std::string::npos);
  EXPECT_NE(message([&] { b.softmax(x, 2); }).find("axis 2"), std::string::npos);
  EXPECT_NE(message([&] {
              b.gather(b.ints({1, 2}), b.integer(2));
            }).find("2 elements"),
            std::string::npos);
  EXPECT_NE(message([&] { b.op(OpKind::softmax, {}); }).find("1 or more inputs"),
            std::string::npos);
  EXPECT_NE(message([&] { b.op(OpKind::softmax, {}); }).find("node 'n"), std::string::npos);
}

// Shape arithmetic that doubles with each node ends as unknown, not as an endless expression.
TEST(Inference, StaysSmallOnHostileShapes) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {batch, seq});
  ValueId v = b.shape_of(x);
  for (int i = 0; i < 100; ++i) {
    v = b.binary(i % 2 == 0 ? "mul" : "min", b.add(v, b.binary("max", v, b.ints({i}))), v);
  }
  EXPECT_EQ(contents(b, v), "unknown");
  ValueId huge = b.ints({std::numeric_limits<std::int64_t>::max()});
  huge = b.add(b.mul(huge, huge), huge);
  EXPECT_NE(contents(b, huge), "");
}

TEST(Inference, JoinsBranches) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {batch, seq});
  const ValueId c = b.input("c", DataType::boolean, {});
  const auto branch = [&](bool longer) {
    Builder inner;
    const ValueId y = inner.input("y", DataType::undefined, {});
    Node node;
    node.op = OpKind::concat;
    node.inputs = longer ? std::vector<ValueId>{y, y} : std::vector<ValueId>{y};
    node.attrs.set("axis", std::int64_t{1});
    node.outputs = {inner.graph.add_value("z", DataType::undefined)};
    inner.graph.outputs = {node.outputs[0]};
    inner.graph.add_node(std::move(node));
    return inner.graph;
  };
  Node node;
  node.op = OpKind::if_then_else;
  node.inputs = {c, x};
  node.bodies = {branch(true), branch(false)};
  node.outputs = {b.graph.add_value("out", DataType::undefined)};
  const ValueId out = node.outputs[0];
  infer(b.graph, b.graph.add_node(std::move(node)));
  EXPECT_EQ(b.shape(out)[0], batch);
  EXPECT_TRUE(b.shape(out)[1].has_dynamic());
}

TEST(Verify, FindsBrokenGraphs) {
  const auto broken = [](auto&& damage) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {2, 4});
    const ValueId y = b.unary("exp", x);
    b.output(b.unary("neg", y), "out");
    verify(b.graph);
    damage(b.graph);
    try {
      verify(b.graph);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(broken([](Graph& g) {
              g.set_order({g.order()[1], g.order()[0]});
            }).find("not computed before"),
            std::string::npos);
  EXPECT_NE(
      broken([](Graph& g) { g.node(g.order()[0]).inputs[0] = ValueId{99}; }).find("does not exist"),
      std::string::npos);
  EXPECT_NE(broken([](Graph& g) { g.outputs[0] = ValueId{}; }).find("output"), std::string::npos);
  EXPECT_NE(broken([](Graph& g) { g.node(g.order()[0]).inputs.clear(); }).find("1 or more inputs"),
            std::string::npos);
  EXPECT_NE(
      broken([](Graph& g) { g.value(g.outputs[0]).dtype = DataType::undefined; }).find("no type"),
      std::string::npos);
  EXPECT_NE(
      broken([](Graph& g) { g.node(g.order()[0]).outputs[0] = g.outputs[0]; }).find("producer"),
      std::string::npos);
  EXPECT_NE(broken([](Graph& g) { g.node(g.order()[0]).sources.clear(); }).find("imported from"),
            std::string::npos);
  EXPECT_NE(broken([](Graph& g) {
              g.value(g.outputs[0]).equals = Equivalence{g.inputs[0], {1, 0}, false};
            }).find("is said to equal"),
            std::string::npos);
}

}  // namespace
}  // namespace concord::graph
