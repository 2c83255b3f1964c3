#include <limits>

#include "tests/graph/builder.h"
#include "tests/graph/graph_case.h"

namespace concord::graph {
namespace {

const Dim batch = Dim::symbol("b");
const Dim queries = Dim::symbol("s");
const Dim keys = Dim::symbol("t");
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();

struct Case {
  Builder b;
  std::vector<Tensor> inputs;

  ValueId input(const std::string& name, SymShape shape, const Shape& actual) {
    inputs.push_back(Builder::random(actual, inputs.size() + 1));
    return b.input(name, DataType::f32, std::move(shape));
  }
  ValueId flags(const std::string& name, SymShape shape, const Shape& actual) {
    Tensor t(DataType::boolean, actual);
    for (std::int64_t i = 0; i < t.count(); ++i) {
      t.as_mutable<bool>()[static_cast<std::size_t>(i)] = i % 5 != 3;
    }
    inputs.push_back(t);
    return b.input(name, DataType::boolean, std::move(shape));
  }
  // q, k, v as [B, S, H, D].
  ValueId q() { return input("q", {batch, queries, 4, 8}, {2, 3, 4, 8}); }
  ValueId k(std::int64_t heads = 4) {
    return input("k", {batch, keys, heads, 8}, {2, 5, heads, 8});
  }
  ValueId v(std::int64_t heads = 4) {
    return input("v", {batch, keys, heads, 8}, {2, 5, heads, 8});
  }

  Graph check() {
    verify(b.graph);
    Graph fused = optimise(b.graph, folding());
    verify(fused);
    expect_same(b.graph, fused, inputs);
    return fused;
  }
};

const Node& attention_of(const Graph& graph) {
  static const Node none;
  for (const NodeId id : graph.order()) {
    if (graph.node(id).op == OpKind::attention) return graph.node(id);
  }
  ADD_FAILURE() << "no attention in\n" << dump(graph);
  return none;
}

const std::vector<std::int64_t> kSwap{0, 2, 1, 3};

TEST(FuseAttention, TakesLayoutsAndScalesIn) {
  for (int spelling = 0; spelling < 4; ++spelling) {
    Case c;
    Builder& b = c.b;
    const ValueId q = b.transpose(c.q(), kSwap);
    const Dim t = spelling == 2 ? Dim(5) : keys;
    const ValueId k = c.input("k", {batch, t, 4, 8}, {2, 5, 4, 8});
    const ValueId v = b.transpose(c.input("v", {batch, t, 4, 8}, {2, 5, 4, 8}), kSwap);
    ValueId scores;
    if (spelling == 0) {
      scores = b.binary("div", b.matmul(q, b.transpose(k, {0, 2, 3, 1})), b.scalar(2.8284271F));
    } else if (spelling == 1) {
      const ValueId kt = b.transpose(b.transpose(k, kSwap), {0, 1, 3, 2});
      scores = b.matmul(b.mul(q, b.scalar(0.5F)), b.mul(kt, b.scalar(0.5F)));
    } else if (spelling == 2) {
      // dynamo: heads and batch folded, transposed, unfolded.
      const ValueId rows = b.reshape(b.transpose(k, kSwap), {-1, 5, 8});
      const ValueId kt = b.reshape(b.transpose(rows, {0, 2, 1}), {-1, 4, 8, 5});
      scores = b.matmul(q, kt);
    } else {
      scores = b.mul(b.scalar(0.25F), b.matmul(q, b.transpose(k, {0, 2, 3, 1})));
    }
    const ValueId y = b.transpose(b.matmul(b.softmax(scores, -1), v), kSwap);
    b.output(b.reshape(y, {0, 0, 32}), "y");
    const Graph fused = c.check();
    EXPECT_EQ(fused.order().size(), 2u) << spelling << "\n" << dump(fused);
    const Node& node = attention_of(fused);
    for (const char* layout : {"q_layout", "k_layout", "v_layout", "y_layout"}) {
      EXPECT_EQ(node.attrs.text(layout), "bshd") << spelling << layout;
    }
  }
}

TEST(FuseAttention, GroupsRepeatedHeads) {
  for (const bool both : {true, false}) {
    Case c;
    Builder& b = c.b;
    const ValueId q = b.transpose(c.q(), kSwap);
    const auto repeat = [&](ValueId x) {
      const ValueId heads = b.reshape(b.transpose(x, kSwap), {0, 0, 1, -1, 8});
      const ValueId n = b.slice(b.shape_of(heads), 0, 1, 0);
      const ValueId t = b.slice(b.shape_of(heads), 3, 4, 0);
      const ValueId wide = b.broadcast(heads, b.concat({n, b.ints({2, 2}), t, b.ints({8})}, 0));
      return b.reshape_to(wide, b.concat({n, b.ints({4}), t, b.ints({8})}, 0));
    };
    const ValueId k = repeat(c.k(2));
    const ValueId v = both ? repeat(c.v(2)) : b.transpose(c.v(4), kSwap);
    const ValueId scores = b.matmul(q, b.transpose(k, {0, 1, 3, 2}));
    b.output(b.matmul(b.softmax(scores, 3), v), "y");
    const Graph fused = c.check();
    const Node& node = attention_of(fused);
    // Keys and values must have as many heads as each other.
    EXPECT_EQ(fused.value(node.inputs[1]).shape->at(both ? 2 : 1), Dim(both ? 2 : 4));
    EXPECT_EQ(fused.order().size(), both ? 1u : 5u) << dump(fused);
  }
}

TEST(FuseAttention, TakesMasksOfEverySpelling) {
  for (int spelling = 0; spelling < 6; ++spelling) {
    Case c;
    Builder& b = c.b;
    const ValueId q = b.transpose(c.q(), kSwap);
    const ValueId k = b.transpose(c.k(), {0, 2, 3, 1});
    const ValueId v = b.transpose(c.v(), kSwap);
    ValueId scores = b.matmul(q, k);
    const ValueId seen = c.flags("seen", {batch, 1, 1, keys}, {2, 1, 1, 5});
    switch (spelling) {
      case 0:
        scores = b.add(scores, b.select(seen, b.scalar(0), b.scalar(-kInfinity)));
        break;
      case 1:
        scores =
            b.add(b.select(b.unary("logical_not", seen), b.scalar(kLowest), b.scalar(0)), scores);
        break;
      case 2:
        scores = b.select(seen, scores, b.scalar(-kInfinity));
        break;
      case 3:
        scores = b.select(b.unary("logical_not", seen), b.scalar(kLowest), scores);
        break;
      case 4:
        scores = b.add(b.mul(scores, b.scalar(0.125F)),
                       c.input("bias", {1, 4, queries, keys}, {1, 4, 3, 5}));
        scores = b.add(scores, b.select(seen, b.scalar(0), b.scalar(-kInfinity)));
        break;
      default:
        scores = b.add(scores, b.mul(b.binary("sub", b.scalar(1), b.cast(seen, DataType::f32)),
                                     b.scalar(-10000)));
        break;
    }
    b.output(b.matmul(b.softmax(scores, 3), v), "y");
    const Graph fused = c.check();
    const Node& node = attention_of(fused);
    EXPECT_TRUE(node.has_input(3)) << spelling;
    EXPECT_EQ(count(fused, "softmax"), 0) << spelling;
    const bool exact = spelling == 0 || spelling == 2;
    EXPECT_EQ(fused.value(node.inputs[3]).dtype == DataType::boolean, exact) << spelling;
  }
}

// A row that sees nothing: 0 with the test for NaN, and what the numbers give without.
TEST(FuseAttention, KeepsRowsThatSeeNothing) {
  for (int spelling = 0; spelling < 3; ++spelling) {
    Case c;
    Builder& b = c.b;
    const ValueId q = b.transpose(c.q(), kSwap);
    const ValueId k = b.transpose(c.k(), {0, 2, 3, 1});
    const ValueId v = b.transpose(c.v(), kSwap);
    const ValueId seen = c.flags("seen", {batch, 1, 1, keys}, {2, 1, 1, 5});
    for (std::size_t i = 0; i < 5; ++i) c.inputs.back().as_mutable<bool>()[i] = false;
    const float hidden = spelling == 1 ? kLowest : -kInfinity;
    const ValueId scores = b.add(b.matmul(q, k), b.select(seen, b.scalar(0), b.scalar(hidden)));
    ValueId p = b.softmax(scores, 3);
    if (spelling == 0) p = b.select(b.unary("is_nan", p), b.scalar(0), p);
    b.output(b.matmul(p, v), "y");
    const Graph fused = c.check();
    EXPECT_EQ(attention_of(fused).attrs.integer("nan_to_zero"), spelling == 0 ? 1 : 0);
  }
}

TEST(FuseAttention, SaysCausalMasksByAttributes) {
  struct Spelling {
    const char* what;
    bool past;     // positions of queries begin behind a cache
    bool window;   // keys further back than that are hidden
    bool padding;  // and with a mask of the keys
    float hidden;
    bool attribute;
  };
  const std::vector<Spelling> spellings{
      {"plain", false, false, false, -kInfinity, true},
      {"finite", false, false, false, kLowest, true},
      {"cache", true, false, false, -kInfinity, true},
      {"padding", true, false, true, -kInfinity, true},
      {"finite padding", true, false, true, kLowest, false},
      {"window", true, true, false, -kInfinity, true},
      {"window and padding", false, true, true, -kInfinity, true},
      {"finite window", false, true, false, kLowest, false},
  };
  for (const Spelling& s : spellings) {
    SCOPED_TRACE(s.what);
    Case c;
    Builder& b = c.b;
    const Dim past = Dim::symbol("p");
    const Dim all = s.past ? past + queries : queries;
    const std::int64_t t = s.past ? 5 : 3;
    const ValueId q = b.transpose(c.q(), kSwap);
    const ValueId k = b.transpose(c.input("k", {batch, all, 4, 8}, {2, t, 4, 8}), {0, 2, 3, 1});
    const ValueId v = b.transpose(c.input("v", {batch, all, 4, 8}, {2, t, 4, 8}), kSwap);
    ValueId before = b.integer(0);
    if (s.past) {
      const ValueId cache = c.input("cache", {past, 1}, {2, 1});
      before = b.gather(b.shape_of(cache), b.integer(0));
      b.output(b.unary("neg", cache), "cache_out");
    }
    const ValueId n = b.gather(b.shape_of(q), b.integer(2));
    const ValueId one = b.integer(1);
    const ValueId i = b.reshape(b.add(b.range(b.integer(0), n, one), before), {1, 1, -1, 1});
    const ValueId j = b.reshape(b.range(b.integer(0), b.add(n, before), one), {1, 1, 1, -1});
    ValueId seen = b.binary("less_equal", j, i);
    if (s.window) {
      seen =
          b.binary("logical_and", seen, b.binary("greater", j, b.binary("sub", i, b.integer(2))));
    }
    if (s.padding) {
      seen = b.binary("logical_and", seen, c.flags("mask", {batch, 1, 1, all}, {2, 1, 1, t}));
    }
    const ValueId scores = b.add(b.matmul(q, k), b.select(seen, b.scalar(0), b.scalar(s.hidden)));
    b.output(b.matmul(b.softmax(scores, 3), v), "y");
    const Graph fused = c.check();
    const Node& node = attention_of(fused);
    EXPECT_EQ(node.attrs.text("causal"), !s.attribute ? "none"
                                         : s.past     ? "bottom_right"
                                                      : "top_left");
    EXPECT_EQ(node.attrs.integer("window"), s.attribute && s.window ? 2 : -1);
    EXPECT_EQ(node.has_input(3), s.padding || !s.attribute);
  }
}

TEST(FuseAttention, ReadsTrianglesAsCausal) {
  for (int spelling = 0; spelling < 3; ++spelling) {
    Case c;
    Builder& b = c.b;
    const ValueId q = b.transpose(c.q(), kSwap);
    const ValueId k = b.transpose(c.input("k", {batch, queries, 4, 8}, {2, 3, 4, 8}), {0, 2, 3, 1});
    const ValueId v = b.transpose(c.input("v", {batch, queries, 4, 8}, {2, 3, 4, 8}), kSwap);
    const ValueId n = b.slice(b.shape_of(q), 2, 3, 0);
    const auto triangle = [&](float value, std::int64_t upper, std::int64_t diagonal) {
      const ValueId full =
          b.op(OpKind::constant_of, {b.concat({n, n}, 0)}, {{"value", Tensor::scalar(value)}});
      return b.op(OpKind::trilu, {full}, {{"upper", upper}, {"k", diagonal}});
    };
    ValueId scores = b.matmul(q, k);
    if (spelling == 0) {
      const ValueId hidden = b.binary("equal", triangle(1, 0, 0), b.scalar(0));
      scores = b.select(hidden, b.scalar(-kInfinity), scores);
    } else if (spelling == 1) {
      scores = b.add(scores, triangle(-kInfinity, 1, 1));
    } else {
      scores = b.add(scores, b.select(b.cast(triangle(1, 0, 0), DataType::boolean), b.scalar(0),
                                      b.scalar(-kInfinity)));
    }
    b.output(b.matmul(b.softmax(scores, 3), v), "y");
    const Graph fused = c.check();
    EXPECT_EQ(attention_of(fused).attrs.text("causal"), "top_left") << spelling;
    EXPECT_EQ(fused.order().size(), 1u) << dump(fused);
  }
}

TEST(FuseAttention, ReadsSoftCaps) {
  Case c;
  Builder& b = c.b;
  const ValueId q = b.transpose(c.q(), kSwap);
  const ValueId k = b.transpose(c.k(), {0, 2, 3, 1});
  const ValueId v = b.transpose(c.v(), kSwap);
  ValueId scores = b.mul(b.matmul(q, k), b.scalar(0.25F));
  scores = b.mul(b.unary("tanh", b.binary("div", scores, b.scalar(3))), b.scalar(3));
  scores = b.add(scores, c.input("bias", {batch, 1, queries, keys}, {2, 1, 3, 5}));
  b.output(b.matmul(b.softmax(scores, 3), v), "y");
  const Node node = attention_of(c.check());
  EXPECT_EQ(node.attrs.number("softcap"), 3);
  EXPECT_FLOAT_EQ(static_cast<float>(node.attrs.number("scale")), 0.25F);
}

TEST(FuseAttention, LeavesOtherComputationsAlone) {
  for (int other = 0; other < 6; ++other) {
    Case c;
    Builder& b = c.b;
    const ValueId q = b.transpose(c.q(), kSwap);
    const ValueId k = b.transpose(c.k(), {0, 2, 3, 1});
    const ValueId v = b.transpose(c.v(), kSwap);
    ValueId scores = b.matmul(q, k);
    if (other == 0) b.output(scores, "scores");
    if (other == 1) {
      // The mask would be scaled too.
      scores = b.mul(b.add(scores, c.input("m", {batch, 1, 1, keys}, {2, 1, 1, 5})), b.scalar(2));
    }
    if (other == 2) scores = b.unary("exp", scores);
    const ValueId p = b.softmax(scores, other == 3 ? 2 : 3);
    if (other == 4) b.output(p, "p");
    const ValueId weighted = other == 5 ? b.mul(p, b.scalar(0.5F)) : p;
    b.output(b.matmul(weighted, v), "y");
    EXPECT_EQ(count(c.check(), "attention"), 0) << other;
  }
}

TEST(FuseRotary, FindsRotatedHalves) {
  for (int spelling = 0; spelling < 4; ++spelling) {
    Case c;
    Builder& b = c.b;
    const bool heads_first = spelling != 1;
    ValueId x = c.q();
    if (heads_first) x = b.transpose(x, kSwap);
    const ValueId rotated_part = spelling == 3 ? b.slice(x, 0, 4, 3) : x;
    const std::int64_t width = spelling == 3 ? 4 : 8;
    const ValueId angles = c.input("angles", {batch, queries, width}, {2, 3, width});
    const std::vector<std::int64_t> axis = heads_first ? std::vector<std::int64_t>{0, 1, -1, width}
                                                       : std::vector<std::int64_t>{0, -1, 1, width};
    const auto table = [&](const char* fn) {
      const ValueId t = b.unary(fn, angles);
      const ValueId n = b.shape_of(t);
      const ValueId rows = b.slice(n, 0, 1, 0);
      const ValueId length = b.slice(n, 1, 2, 0);
      const ValueId shape = heads_first ? b.concat({rows, b.ints({1}), length, b.ints({width})}, 0)
                                        : b.concat({rows, length, b.ints({1, width})}, 0);
      return b.reshape_to(t, shape);
    };
    const ValueId cos = table("cos");
    const ValueId sin = table("sin");
    ValueId front;
    ValueId back;
    if (spelling == 2) {
      const auto halves =
          b.ops(OpKind::split, {rotated_part, b.ints({4, 4})}, {{"axis", std::int64_t{3}}}, 2);
      front = halves[0];
      back = halves[1];
    } else {
      front = b.slice(rotated_part, 0, width / 2, 3);
      back = b.slice(rotated_part, width / 2, std::numeric_limits<std::int64_t>::max(), 3);
    }
    const ValueId half = b.concat({b.unary("neg", back), front}, 3);
    ValueId y = b.add(b.mul(rotated_part, cos), b.mul(half, sin));
    if (spelling == 3) y = b.concat({y, b.slice(x, 4, 8, 3)}, 3);
    b.output(y, "y");
    const Graph fused = c.check();
    EXPECT_EQ(count(fused, "rotary"), 1) << spelling << dump(fused);
    EXPECT_EQ(count(fused, "concat"), 0) << spelling;
  }
}

}  // namespace
}  // namespace concord::graph
