#include <cmath>

#include "tests/graph/builder.h"
#include "tests/graph/graph_case.h"

// Fusions of quantised forms: products of dequantised operands, integers between floats, weights of
// 4 bits.
namespace concord::graph {
namespace {

const Dim n = Dim::symbol("n");

Tensor bytes(DataType dtype, const Shape& shape) {
  Tensor t(dtype, shape);
  std::byte* data = t.mutable_data();
  for (std::int64_t i = 0; i < t.bytes(); ++i) data[i] = static_cast<std::byte>(i * 37 + 11);
  return t;
}

Tensor byte(DataType dtype, int value) {
  Tensor t(dtype, {});
  t.mutable_data()[0] = static_cast<std::byte>(value);
  return t;
}

Tensor scales(const Shape& shape) {
  Tensor t(DataType::f32, shape);
  float value = 0.011F;
  for (float& s : t.as_mutable<float>()) s = value *= 1.1F;
  return t;
}

ValueId dequantize(Builder& b, ValueId x, ValueId scale, ValueId zero, std::int64_t axis = 0,
                   std::int64_t block = 0) {
  return b.op(OpKind::dequantize, {x, scale, zero},
              {{"axis", axis}, {"block_size", block}, {"to", DataType::f32}});
}

ValueId quantize(Builder& b, ValueId x, ValueId scale, ValueId zero, DataType to) {
  return b.op(OpKind::quantize, {x, scale, zero},
              {{"axis", std::int64_t{0}},
               {"block_size", std::int64_t{0}},
               {"to", to},
               {"saturate", std::int64_t{1}}});
}

Graph check(const Builder& b, const std::vector<Tensor>& inputs, double tolerance = 2e-6) {
  verify(b.graph);
  Graph fused = optimise(b.graph, folding());
  verify(fused);
  expect_same(b.graph, fused, inputs, tolerance);
  return fused;
}

TEST(FuseQuantised, MultipliesBytesByWeights) {
  for (const bool per_column : {false, true}) {
    for (const bool transposed : {false, true}) {
      Builder b;
      const ValueId x = b.input("x", DataType::u8, {n, 4, 8});
      const ValueId r = b.input("r", DataType::f32, {n, 4, 6});
      const Shape many = per_column ? Shape{6} : Shape{};
      const ValueId floats = dequantize(b, x, b.scalar(0.02F), b.constant(byte(DataType::u8, 117)));
      const ValueId w = b.constant(bytes(DataType::i8, transposed ? Shape{6, 8} : Shape{8, 6}));
      const ValueId weights = dequantize(b, w, b.constant(scales(many)),
                                         b.constant(bytes(DataType::i8, many)), transposed ? 0 : 1);
      const ValueId product = b.op(OpKind::matmul, {floats, weights},
                                   {{"trans_a", std::int64_t{0}},
                                    {"trans_b", std::int64_t{transposed ? 1 : 0}},
                                    {"alpha", 0.5}});
      b.output(b.add(r, b.unary("gelu_erf", b.add(product, b.weights({6}, 3)))), "y");
      const Graph fused = check(b, {bytes(DataType::u8, {2, 4, 8}), Builder::random({2, 4, 6}, 9)});
      ASSERT_EQ(fused.order().size(), 1u) << dump(fused);
      const Node& node = fused.node(fused.order()[0]);
      EXPECT_EQ(node.op, OpKind::matmul_integer);
      EXPECT_EQ(node.sources.size(), b.graph.order().size());
      EXPECT_EQ(node.attrs.text("activation"), "gelu_erf");
    }
  }
}

TEST(FuseQuantised, MultipliesTwoOperandsOfTheRun) {
  for (const bool transposed : {false, true}) {
    Builder b;
    const ValueId x = b.input("x", DataType::u8, {2, n, 8});
    const ValueId y =
        b.input("y", DataType::i8,
                transposed ? SymShape{2, Dim::symbol("m"), 8} : SymShape{2, 8, Dim::symbol("m")});
    const ValueId left = dequantize(b, x, b.scalar(0.02F), b.constant(byte(DataType::u8, 3)));
    const ValueId right = dequantize(b, y, b.scalar(0.5F), {});
    b.output(b.op(OpKind::matmul, {left, right},
                  {{"trans_a", std::int64_t{0}},
                   {"trans_b", std::int64_t{transposed ? 1 : 0}},
                   {"alpha", 1.0}}),
             "z");
    const Graph fused =
        check(b, {bytes(DataType::u8, {2, 5, 8}),
                  bytes(DataType::i8, transposed ? Shape{2, 7, 8} : Shape{2, 8, 7})});
    EXPECT_EQ(count(fused, "matmul_integer"), 1);
    EXPECT_EQ(count(fused, "dequantize"), 0);
  }
}

TEST(FuseQuantised, ConvolvesBytes) {
  for (const DataType type : {DataType::i8, DataType::u8}) {
    Builder b;
    const ValueId x = b.input("x", DataType::u8, {n, 4, 6, 6});
    const ValueId floats = dequantize(b, x, b.scalar(0.02F), b.constant(byte(DataType::u8, 117)));
    // Unsigned weights about 128 are signed ones.
    const ValueId zero = type == DataType::u8 ? b.constant(byte(type, 128)) : ValueId{};
    const Shape many = type == DataType::u8 ? Shape{} : Shape{5};
    const ValueId w =
        dequantize(b, b.constant(bytes(type, {5, 4, 3, 3})), b.constant(scales(many)), zero, 0);
    const ValueId y = b.op(OpKind::conv, {floats, w, b.weights({5}, 7)},
                           {{"strides", std::vector<std::int64_t>{1, 2}},
                            {"pads", std::vector<std::int64_t>{1, 1, 1, 0}},
                            {"dilations", std::vector<std::int64_t>{1, 1}},
                            {"group", std::int64_t{1}},
                            {"auto_pad", std::string("notset")}});
    b.output(b.unary("relu", y), "y");
    const Graph fused = check(b, {bytes(DataType::u8, {2, 4, 6, 6})});
    ASSERT_EQ(fused.order().size(), 1u) << dump(fused);
    EXPECT_TRUE(fused.node(fused.order()[0]).has_input(4));
    EXPECT_EQ(fused.node(fused.order()[0]).attrs.text("activation"), "relu");
  }
}

TEST(FuseQuantised, LeavesWhatIsNoProductOfBytesWithOneScale) {
  enum { kScalePerRow, kScaleOfTheRun, kTinyScale, kTooLong, kFloatOperand, kObstacles };
  for (int obstacle = 0; obstacle < kObstacles; ++obstacle) {
    Builder b;
    const std::int64_t k = obstacle == kTooLong ? 33026 : 4;
    const ValueId x = b.input("x", DataType::u8, {4, k});
    const ValueId scale = obstacle == kScaleOfTheRun ? b.input("scale", DataType::f32, {})
                          : obstacle == kScalePerRow ? b.constant(scales({4}))
                          : obstacle == kTinyScale   ? b.scalar(1e-38F)
                                                     : b.scalar(0.02F);
    const ValueId left = obstacle == kFloatOperand ? b.input("f", DataType::f32, {4, k})
                                                   : dequantize(b, x, scale, {});
    const ValueId right =
        dequantize(b, b.constant(bytes(DataType::i8, {k, 6})), b.scalar(0.01F), {});
    b.output(b.matmul(left, right), "y");
    const Graph fused = optimise(b.graph, folding());
    verify(fused);
    EXPECT_EQ(count(fused, "matmul_integer"), 0) << obstacle;
  }
}

TEST(FuseMatmulInteger, TakesABiasOfIntegers) {
  Builder b;
  const ValueId x = b.input("x", DataType::u8, {n, 8});
  const ValueId sums = b.op(OpKind::matmul_integer, {x, b.constant(bytes(DataType::i8, {8, 6}))});
  Tensor bias(DataType::i32, {6});
  for (std::int32_t& v : bias.as_mutable<std::int32_t>()) v = 1234;
  const ValueId shifted = b.add(sums, b.constant(bias));
  const ValueId floats = b.op(OpKind::cast, {shifted}, {{"to", DataType::f32}, {"saturate", 1}});
  b.output(b.mul(floats, b.constant(scales({6}))), "y");
  const Graph fused = check(b, {bytes(DataType::u8, {3, 8})});
  EXPECT_EQ(fused.order().size(), 1u) << dump(fused);
}

TEST(FuseRequantised, StaysInFloats) {
  for (const DataType type : {DataType::u8, DataType::i8}) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {n, 8});
    const ValueId scale = b.scalar(0.0078125F);  // ties are met and lie where they should
    const ValueId zero = b.constant(byte(type, 9));
    const ValueId y =
        dequantize(b, quantize(b, b.unary("tanh", x), scale, zero, type), scale, zero);
    b.output(b.add(y, x), "y");
    Tensor values(DataType::f32, {3, 8});
    float value = -1.5F;
    for (float& v : values.as_mutable<float>()) v = value += 0.13671875F;
    values.as_mutable<float>()[5] = std::numeric_limits<float>::infinity();
    const Graph fused = check(b, {values});
    EXPECT_EQ(fused.order().size(), 1u) << dump(fused);
  }
}

TEST(FuseRequantised, KeepsIntegersThatAreReadOrMeanSomethingElse) {
  for (int obstacle = 0; obstacle < 3; ++obstacle) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {n, 8});
    const ValueId scale = b.scalar(0.02F);
    const ValueId zero = b.constant(byte(DataType::u8, 9));
    const ValueId q = quantize(b, x, scale, zero, DataType::u8);
    const ValueId other_scale = obstacle == 0 ? b.scalar(0.03F) : scale;
    const ValueId other_zero = obstacle == 1 ? b.constant(byte(DataType::u8, 8)) : zero;
    b.output(dequantize(b, q, other_scale, other_zero), "y");
    if (obstacle == 2) b.output(q, "q");
    const Graph fused = check(b, {Builder::random({3, 8})});
    EXPECT_EQ(count(fused, "quantize"), 1) << obstacle;
    EXPECT_EQ(count(fused, "dequantize"), 1) << obstacle;
  }
}

// A pair of nodes behind every operator, as exporters put them.
TEST(FuseRequantised, RoundsOnceWhatIsOnlyMoved) {
  for (const bool integers : {false, true}) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {n, 8});
    const ValueId zero = b.constant(byte(DataType::u8, 9));
    const auto rounded = [&](ValueId v, float scale) {
      return dequantize(b, quantize(b, v, b.scalar(scale), zero, DataType::u8), b.scalar(scale),
                        b.constant(byte(DataType::u8, 9)));
    };
    ValueId y = rounded(x, 0.03F);
    y = rounded(b.op(OpKind::reshape, {y}, {{"shape", SymShape{n, 2, 4}}}), 0.03F);
    y = rounded(b.op(OpKind::transpose, {y}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}),
                0.03F);
    b.output(rounded(y, 0.0171F), "y");  // no ties
    PassOptions options = folding();
    options.disabled.insert("fuse_elementwise");
    options.quantised_products = integers;
    Graph fused = optimise(b.graph, options);
    verify(fused);
    expect_same(b.graph, fused, {Builder::random({3, 8})}, 2e-6);
    EXPECT_EQ(integers ? count(fused, "unary:round") : count(fused, "quantize"), 2) << dump(fused);
  }
}

TEST(FuseElementwise, EndsInBytes) {
  for (const DataType type : {DataType::i8, DataType::u8}) {
    Builder b;
    const ValueId x = b.input("x", DataType::f32, {n, 8});
    b.output(quantize(b, b.unary("relu", x), b.scalar(0.0078125F), b.constant(byte(type, 9)), type),
             "y");
    Tensor values(DataType::f32, {3, 8});
    float value = -1.5F;
    for (float& v : values.as_mutable<float>()) v = value += 0.13671875F;
    values.as_mutable<float>()[5] = std::numeric_limits<float>::infinity();
    const Graph fused = check(b, {values}, 0);
    ASSERT_EQ(fused.order().size(), 1u) << dump(fused);
    EXPECT_EQ(fused.node(fused.order()[0]).op, OpKind::elementwise);
    EXPECT_EQ(fused.value(fused.outputs[0]).dtype, type);
  }
}

TEST(FuseElementwise, KeepsFloatsThatAreReadBesideTheirBytes) {
  Builder b;
  const ValueId x = b.input("x", DataType::f32, {n, 8});
  const ValueId y = b.unary("relu", x);
  b.output(y, "y");
  b.output(quantize(b, y, b.scalar(0.02F), b.constant(byte(DataType::u8, 9)), DataType::u8), "q");
  EXPECT_EQ(count(check(b, {Builder::random({3, 8})}), "quantize"), 1);
}

TEST(FuseMatmulNbits, KeepsFourBits) {
  for (const DataType type : {DataType::i4, DataType::u4}) {
    for (const bool transposed : {false, true}) {
      for (const bool zeros : {false, true}) {
        Builder b;
        const ValueId x = b.input("x", DataType::f32, {n, 40});
        const Shape shape = transposed ? Shape{6, 40} : Shape{40, 6};
        const Shape blocks = transposed ? Shape{6, 3} : Shape{3, 6};
        const ValueId w =
            dequantize(b, b.constant(bytes(type, shape)), b.constant(scales(blocks)),
                       zeros ? b.constant(bytes(type, blocks)) : ValueId{}, transposed ? 1 : 0, 16);
        b.output(b.op(OpKind::matmul, {x, w},
                      {{"trans_a", std::int64_t{0}},
                       {"trans_b", std::int64_t{transposed ? 1 : 0}},
                       {"alpha", 1.0}}),
                 "y");
        const Graph fused = check(b, {Builder::random({3, 40})});
        ASSERT_EQ(fused.order().size(), 1u) << dump(fused);
        EXPECT_EQ(fused.node(fused.order()[0]).op, OpKind::matmul_nbits);
      }
    }
  }
}

TEST(QuantisedFusions, AreLeftOutForBackendsWithoutSuchProducts) {
  Builder b;
  const ValueId x = b.input("x", DataType::u8, {n, 8});
  const ValueId left = dequantize(b, x, b.scalar(0.02F), {});
  const ValueId right = dequantize(b, b.constant(bytes(DataType::i8, {8, 6})), b.scalar(0.01F), {});
  b.output(b.matmul(left, right), "y");
  PassOptions options = folding();
  options.quantised_products = false;
  EXPECT_EQ(count(optimise(b.graph, options), "matmul_integer"), 0);
}

}  // namespace
}  // namespace concord::graph
