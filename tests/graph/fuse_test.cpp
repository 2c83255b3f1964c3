#include <numbers>

#include "tests/graph/builder.h"
#include "tests/graph/graph_case.h"

// Every fusion: found in its spellings, gives what the parts give, and is not found where a part is
// needed elsewhere or a number is another one.
namespace concord::graph {
namespace {

// Optimises, compares with the graph as it was, and returns the optimised one.
Graph check(const Builder& b, const std::vector<Tensor>& inputs, double tolerance = 2e-6) {
  verify(b.graph);
  Graph fused = optimise(b.graph, folding());
  verify(fused);
  expect_same(b.graph, fused, inputs, tolerance);
  PassOptions plain = folding();
  plain.fusion = false;
  const Graph unfused = optimise(b.graph, plain);
  verify(unfused);
  expect_same(b.graph, unfused, inputs, tolerance);
  return fused;
}

const Dim n = Dim::symbol("n");

TEST(FuseGelu, FindsTheErfSpellings) {
  const float root = std::numbers::sqrt2_v<float>;
  for (int spelling = 0; spelling < 4; ++spelling) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {n, 8});
    const ValueId inner =
        spelling % 2 == 0 ? b.binary("div", x, b.scalar(root)) : b.mul(b.scalar(1 / root), x);
    const ValueId gate = b.add(b.unary("erf", inner), b.scalar(1));
    ValueId y;
    if (spelling == 0) y = b.mul(b.mul(x, gate), b.scalar(0.5F));
    if (spelling == 1) y = b.mul(b.mul(x, b.scalar(0.5F)), gate);
    if (spelling == 2) y = b.mul(x, b.mul(b.scalar(0.5F), gate));
    if (spelling == 3) y = b.binary("div", b.mul(gate, x), b.scalar(2));
    b.output(y, "y");
    const Graph fused = check(b, {Builder::random({3, 8})});
    EXPECT_EQ(count(fused, "unary:gelu_erf"), 1) << spelling;
    EXPECT_EQ(fused.order().size(), 1u) << spelling;
    EXPECT_EQ(fused.node(fused.order()[0]).sources.size(), b.graph.order().size()) << spelling;
  }
}

TEST(FuseGelu, FindsTheTanhSpellings) {
  const float c = 0.7978845834732056F;
  for (int spelling = 0; spelling < 4; ++spelling) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {n, 8});
    ValueId inner;
    if (spelling == 0) {
      inner =
          b.mul(b.add(x, b.mul(b.binary("pow", x, b.scalar(3)), b.scalar(0.044715F))), b.scalar(c));
    } else if (spelling == 1) {
      const ValueId cube = b.mul(b.mul(x, x), x);
      inner = b.mul(b.scalar(c), b.add(b.mul(b.scalar(0.044715F), cube), x));
    } else if (spelling == 2) {
      const ValueId scaled = b.mul(x, b.scalar(c));
      inner = b.mul(scaled, b.add(b.mul(b.mul(x, b.scalar(0.044715F)), x), b.scalar(1)));
    } else {
      inner = b.add(b.mul(x, b.scalar(c)),
                    b.mul(b.binary("pow", x, b.scalar(3)), b.scalar(c * 0.044715F)));
    }
    const ValueId gate = b.add(b.scalar(1), b.unary("tanh", inner));
    b.output(b.mul(b.mul(x, b.scalar(0.5F)), gate), "y");
    const Graph fused = check(b, {Builder::random({3, 8})});
    EXPECT_EQ(count(fused, "unary:gelu_tanh"), 1) << spelling;
    EXPECT_EQ(fused.order().size(), 1u) << spelling;
  }
}

TEST(FuseGelu, LeavesOtherFormulasAlone) {
  for (int other = 0; other < 3; ++other) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {n, 8});
    const ValueId inner = b.mul(x, b.scalar(other == 0 ? 0.7F : 0.70710677F));
    const ValueId gate = b.add(b.unary("erf", inner), b.scalar(other == 1 ? 0.99F : 1.0F));
    b.output(b.mul(b.mul(x, gate), b.scalar(0.5F)), "y");
    if (other == 2) b.output(gate, "gate");
    EXPECT_EQ(count(check(b, {Builder::random({3, 8})}), "unary:gelu_erf"), 0) << other;
  }
}

TEST(FuseSwish, FindsGatedFunctions) {
  const std::vector<std::string> names{"silu", "quick_gelu", "hard_swish", "mish"};
  for (const std::string& name : names) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {n, 8});
    ValueId gate;
    if (name == "silu") gate = b.unary("sigmoid", x);
    if (name == "quick_gelu") gate = b.unary("sigmoid", b.mul(x, b.scalar(1.702F)));
    if (name == "hard_swish") gate = b.unary("hard_sigmoid", x, 1.0F / 6, 0.5);
    if (name == "mish") gate = b.unary("tanh", b.unary("softplus", x));
    b.output(b.mul(gate, x), "y");
    const Graph fused = check(b, {Builder::random({3, 8})});
    EXPECT_EQ(count(fused, "unary:" + name), 1) << name;
    EXPECT_EQ(fused.order().size(), 1u) << name;
  }
}

ValueId written_norm(Builder& b, ValueId x, bool centred, int spelling, float epsilon) {
  const ValueId d = centred ? b.binary("sub", x, b.mean(x, {2})) : x;
  const ValueId square = spelling % 2 == 0 ? b.binary("pow", d, b.scalar(2)) : b.mul(d, d);
  const ValueId v = b.add(b.mean(square, {2}), b.scalar(epsilon));
  switch (spelling) {
    case 0:
      return b.binary("div", d, b.unary("sqrt", v));
    case 1:
      return b.mul(d, b.unary("reciprocal", b.unary("sqrt", v)));
    case 2:
      return b.mul(b.binary("div", b.scalar(1), b.unary("sqrt", v)), d);
    default:
      return b.mul(d, b.binary("pow", v, b.scalar(-0.5F)));
  }
}

TEST(FuseNorm, FindsLayerAndRmsNorm) {
  for (const bool centred : {true, false}) {
    for (int spelling = 0; spelling < 4; ++spelling) {
      Builder b;
      const ValueId x = b.input("x", DataType::f32, {n, Dim::symbol("s"), 8});
      ValueId y = written_norm(b, x, centred, spelling, 1e-5F);
      y = b.mul(b.weights({8}, 2), y);
      if (centred) y = b.add(y, b.weights({8}, 3));
      b.output(y, "y");
      const Graph fused = check(b, {Builder::random({2, 3, 8})});
      EXPECT_EQ(count(fused, centred ? "layer_norm" : "rms_norm"), 1) << spelling;
      EXPECT_EQ(fused.order().size(), 1u) << spelling;
      const Node& node = fused.node(fused.order()[0]);
      EXPECT_FLOAT_EQ(static_cast<float>(node.attrs.number("epsilon")), 1e-5F);
      EXPECT_EQ(node.inputs.size(), centred ? 3u : 2u);
    }
  }
}

TEST(FuseNorm, KeepsWhatIsReadElsewhere) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 4, 8});
  const ValueId y = written_norm(b, x, false, 0, 1e-5F);
  b.output(b.mul(y, b.weights({8})), "y");
  b.output(y, "before_gamma");
  const Graph fused = check(b, {Builder::random({2, 4, 8})});
  EXPECT_EQ(count(fused, "rms_norm"), 1);
  EXPECT_EQ(count(fused, "binary:mul"), 1);
}

TEST(FuseResidualNorm, TakesTheAdditionIn) {
  for (const bool sum_used : {true, false}) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {n, 4, 8});
    const ValueId r = b.input("r", DataType::f32, {n, 4, 8});
    const ValueId sum = b.add(x, r);
    const ValueId early = sum_used ? b.unary("exp", sum) : ValueId{};
    const ValueId y = b.op(OpKind::layer_norm, {sum, b.weights({8}), b.weights({8}, 2)},
                           {{"axis", std::int64_t{2}}, {"epsilon", 1e-5}});
    b.output(y, "y");
    if (sum_used) b.output(early, "early");
    const Graph fused = check(b, {Builder::random({2, 4, 8}), Builder::random({2, 4, 8}, 5)});
    EXPECT_EQ(count(fused, "binary:add"), 0);
    for (const NodeId id : fused.order()) {
      const Node& node = fused.node(id);
      if (node.op != OpKind::layer_norm) continue;
      EXPECT_TRUE(node.has_input(3));
      EXPECT_EQ(node.outputs.size(), sum_used ? 2u : 1u);
    }
  }
}

TEST(FuseMatmul, TakesInWhatStandsAround) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 4, 8});
  const ValueId r = b.input("r", DataType::f32, {n, 4, 6});
  const ValueId w = b.transpose(b.weights({6, 8}), {1, 0});
  ValueId y = b.mul(b.matmul(x, w), b.scalar(0.25F));
  y = b.unary("relu", b.add(b.weights({1, 6}, 3), y));
  b.output(b.add(r, y), "y");
  const Graph fused = check(b, {Builder::random({2, 4, 8}), Builder::random({2, 4, 6}, 9)});
  ASSERT_EQ(fused.order().size(), 1u);
  const Node& node = fused.node(fused.order()[0]);
  EXPECT_EQ(node.attrs.integer("trans_b"), 1);
  EXPECT_EQ(node.attrs.number("alpha"), 0.25);
  EXPECT_EQ(node.attrs.text("activation"), "relu");
  EXPECT_TRUE(node.has_input(2) && node.has_input(3));
}

TEST(FuseMatmul, KeepsTheOrderOfBiasAndActivation) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 8});
  // Bias behind the activation, a scale behind the bias, and a scalar: none of them may move.
  b.output(b.add(b.unary("relu", b.matmul(x, b.weights({8, 6}))), b.weights({6}, 3)), "bias_last");
  b.output(b.mul(b.add(b.matmul(x, b.weights({8, 6}, 4)), b.weights({6}, 3)), b.scalar(3)),
           "scale_last");
  b.output(b.add(b.matmul(x, b.weights({8, 6}, 5)), b.scalar(3)), "scalar");
  const Graph fused = check(b, {Builder::random({4, 8})});
  EXPECT_EQ(count(fused, "matmul"), 3);
  EXPECT_EQ(fused.order().size(), 6u);
}

TEST(FuseMatmul, TransposesBothOperands) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {2, 8, n});
  const ValueId y = b.input("y", DataType::f32, {2, 6, 8});
  b.output(b.matmul(b.transpose(x, {0, 2, 1}), b.transpose(y, {0, 2, 1})), "z");
  const Graph fused = check(b, {Builder::random({2, 8, 5}), Builder::random({2, 6, 8})});
  ASSERT_EQ(fused.order().size(), 1u);
  EXPECT_EQ(fused.node(fused.order()[0]).attrs.integer("trans_a"), 1);
}

Tensor bytes(DataType dtype, const Shape& shape) {
  Tensor t(dtype, shape);
  std::byte* data = t.mutable_data();
  for (std::int64_t i = 0; i < t.count(); ++i) data[i] = static_cast<std::byte>(i * 37 + 11);
  return t;
}

TEST(FuseMatmulInteger, MakesFloatsInOneStep) {
  for (const Shape& scale_shape : {Shape{}, Shape{1}, Shape{6}}) {
    Builder b;
    const ValueId x = b.input("x", DataType::u8, {n, 4, 8});
    const ValueId zero = b.input("zero", DataType::u8, {});
    const ValueId scale =
        b.input("scale", DataType::f32, SymShape(scale_shape.begin(), scale_shape.end()));
    const ValueId r = b.input("r", DataType::f32, {n, 4, 6});
    const ValueId sums = b.op(OpKind::matmul_integer, {x, b.constant(bytes(DataType::i8, {8, 6})),
                                                       zero, b.constant(bytes(DataType::i8, {}))});
    const ValueId floats = b.op(OpKind::cast, {sums}, {{"to", DataType::f32}, {"saturate", 1}});
    ValueId y = b.add(b.mul(floats, scale), b.weights({6}, 3));
    b.output(b.add(r, b.unary("gelu_erf", y)), "y");
    const Graph fused = check(b, {bytes(DataType::u8, {2, 4, 8}), bytes(DataType::u8, {}),
                                  Builder::random(scale_shape), Builder::random({2, 4, 6}, 9)});
    ASSERT_EQ(fused.order().size(), 1u);
    const Node& node = fused.node(fused.order()[0]);
    EXPECT_EQ(node.sources.size(), b.graph.order().size());
    EXPECT_EQ(node.attrs.text("activation"), "gelu_erf");
  }
}

TEST(FuseMatmulInteger, KeepsSumsThatOthersReadAndScalesOfRows) {
  for (int obstacle = 0; obstacle < 3; ++obstacle) {
    Builder b;
    const ValueId x = b.input("x", DataType::u8, {4, 8});
    const ValueId w = obstacle == 0 ? b.input("w", DataType::i8, {8, 6})
                                    : b.constant(bytes(DataType::i8, {8, 6}));
    const SymShape rows{4, 1};
    const ValueId scale = b.input("scale", DataType::f32,
                                  obstacle == 0   ? SymShape{6}
                                  : obstacle == 1 ? rows
                                                  : SymShape{1, 1});
    const ValueId sums = b.op(OpKind::matmul_integer, {x, w});
    const ValueId floats = b.op(OpKind::cast, {sums}, {{"to", DataType::f32}, {"saturate", 1}});
    b.output(b.mul(floats, scale), "y");
    if (obstacle == 2) b.output(sums, "sums");
    const Graph fused = optimise(b.graph, folding());
    verify(fused);
    for (const NodeId id : fused.order()) {
      EXPECT_FALSE(fused.node(id).op == OpKind::matmul_integer && fused.node(id).has_input(4))
          << obstacle;
    }
  }
}

TEST(FuseConv, FoldsScaleBiasAndActivation) {
  for (const bool transposed : {false, true}) {
    for (const std::int64_t group : {1, 2}) {
      Builder b;
      const ValueId x = b.input("x", DataType::f32, {n, 4, 6, 6});
      const ValueId w = b.weights(transposed ? Shape{4, 3, 3, 3} : Shape{6, 4 / group, 3, 3});
      Attributes attrs{{"strides", std::vector<std::int64_t>{1, 1}},
                       {"pads", std::vector<std::int64_t>{1, 1, 1, 1}},
                       {"dilations", std::vector<std::int64_t>{1, 1}},
                       {"group", group},
                       {"auto_pad", std::string("notset")}};
      const std::int64_t channels = transposed ? 3 * group : 6;
      ValueId y = b.op(transposed ? OpKind::conv_transpose : OpKind::conv,
                       {x, w, b.weights({channels}, 7)}, attrs);
      y = b.mul(y, b.weights({channels, 1, 1}, 2));
      y = b.add(b.weights({1, channels, 1, 1}, 3), y);
      y = b.binary("div", b.binary("sub", y, b.scalar(0.5F)), b.scalar(2));
      b.output(b.unary("leaky_relu", y, 0.1), "y");
      const Graph fused = check(b, {Builder::random({2, 4, 6, 6})}, 5e-6);
      EXPECT_EQ(fused.order().size(), transposed ? 2u : 1u) << group;
    }
  }
}

TEST(FuseConv, LeavesWhatIsNoAffineMapOfTheChannels) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 4, 6, 6});
  const auto conv = [&] {
    return b.op(OpKind::conv, {x, b.weights({6, 4, 1, 1})},
                {{"strides", std::vector<std::int64_t>{1, 1}},
                 {"pads", std::vector<std::int64_t>{0, 0, 0, 0}},
                 {"dilations", std::vector<std::int64_t>{1, 1}},
                 {"group", std::int64_t{1}},
                 {"auto_pad", std::string("notset")}});
  };
  b.output(b.binary("div", b.scalar(1), conv()), "reciprocal");
  b.output(b.mul(conv(), b.weights({6}, 3)), "columns");  // along the width
  b.output(b.binary("sub", b.scalar(1), conv()), "reversed");
  EXPECT_EQ(check(b, {Builder::random({2, 4, 6, 6})}).order().size(), 4u);
}

TEST(FuseElementwise, JoinsChains) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 4, 8});
  const ValueId y = b.input("y", DataType::f32, {n, 1, 8});
  const ValueId c = b.input("c", DataType::boolean, {4, 1});
  ValueId v = b.mul(b.unary("exp", x), b.add(y, b.scalar(1)));
  v = b.select(b.binary("logical_and", c, b.binary("less", v, x)), v, b.unary("neg", x));
  b.output(b.binary("max", v, y), "z");
  Tensor condition = Tensor::zeros(DataType::boolean, {4, 1});
  condition.as_mutable<bool>()[1] = true;
  condition.as_mutable<bool>()[3] = true;
  const Graph fused =
      check(b, {Builder::random({3, 4, 8}), Builder::random({3, 1, 8}, 2), condition});
  // y + 1 is smaller than what it is multiplied with: it stays apart.
  EXPECT_EQ(fused.order().size(), 2u);
  EXPECT_EQ(count(fused, "elementwise"), 1);
}

TEST(FuseElementwise, NeverHidesAnOutput) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 8});
  const ValueId e = b.unary("exp", x);
  b.output(e, "e");
  b.output(b.unary("sin", b.add(e, x)), "y");
  const Graph fused = check(b, {Builder::random({3, 8})});
  EXPECT_EQ(count(fused, "unary:exp"), 1);
}

// Random expressions: whatever is joined, the result is the same.
TEST(FuseElementwise, AgreesOnRandomExpressions) {
  std::uint64_t state = 3;
  const auto random = [&](std::size_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state >> 33) % limit);
  };
  for (int round = 0; round < 60; ++round) {
    Builder b;
    std::vector<ValueId> pool{b.input("x", DataType::f32, {n, 3, 4}),
                              b.input("y", DataType::f32, {n, 1, 4}), b.weights({4}),
                              b.weights({3, 1}, 2), b.scalar(0.75F)};
    std::vector<ValueId> conditions{b.binary("less", pool[0], pool[1])};
    for (int step = 0; step < 30; ++step) {
      const ValueId p = pool[random(pool.size())];
      const ValueId q = pool[random(pool.size())];
      switch (random(6)) {
        case 0:
          pool.push_back(b.unary("tanh", p));
          break;
        case 1:
          pool.push_back(b.unary("sigmoid", p));
          break;
        case 2:
          pool.push_back(b.add(p, q));
          break;
        case 3:
          pool.push_back(b.binary("max", p, q));
          break;
        case 4:
          conditions.push_back(b.binary("greater", p, q));
          break;
        default:
          pool.push_back(b.select(conditions[random(conditions.size())], p, q));
          break;
      }
    }
    for (std::size_t o = 0; o < 3; ++o) {
      ValueId out;
      do {
        out = pool[random(pool.size())];
      } while (b.graph.is_output(out) || !b.graph.value(out).producer.valid());
      b.output(out);
    }
    check(b, {Builder::random({2, 3, 4}, static_cast<std::uint64_t>(round)),
              Builder::random({2, 1, 4}, 77)});
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace concord::graph
