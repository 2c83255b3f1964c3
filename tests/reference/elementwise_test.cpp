#include <limits>

#include "graph/elementwise_program.h"
#include "tests/reference/oracle_case.h"

namespace concord::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

void expect_unary(const char* fn, std::initializer_list<float> x, const std::vector<double>& y,
                  double alpha = 0, double beta = 0) {
  SCOPED_TRACE(fn);
  const auto n = static_cast<std::int64_t>(x.size());
  expect_oracle(OpKind::unary, {f32({n}, x)},
                {{"fn", std::string(fn)}, {"alpha", alpha}, {"beta", beta}}, {n}, y, 1e-9);
}

// Values from a table or worked out by hand.
TEST(Unary, KnownValues) {
  expect_unary("exp", {0, 1, -1}, {1, 2.718281828459045, 0.36787944117144233});
  expect_unary("log", {1, 10, 0, -1}, {0, 2.302585092994046, -kInf, kNan});
  expect_unary("tanh", {0, 1, -20}, {0, 0.7615941559557649, -1});
  expect_unary("erf", {0, 0.5f, -1}, {0, 0.5204998778130465, -0.8427007929497149});
  expect_unary("sqrt", {4, 2, 0, -1}, {2, 1.4142135623730951, 0, kNan});
  expect_unary("rsqrt", {4, 0}, {0.5, kInf});
  expect_unary("reciprocal", {4, 0}, {0.25, kInf});
  expect_unary("sigmoid", {0, 2, -200}, {0.5, 0.8807970779778823, 1.3838965267367376e-87});
  expect_unary("silu", {0, 2}, {0, 1.7615941559557646});
  expect_unary("gelu_erf", {0, 1, -1, 3},
               {0, 0.8413447460685429, -0.15865525393145707, 2.99595030590511});
  expect_unary("gelu_tanh", {0, 1, -1}, {0, 0.8411919906082768, -0.15880800939172324});
  expect_unary("quick_gelu", {1}, {0.845795765951}, 1.702);
  expect_unary("relu", {-2, 3, std::nanf("")}, {0, 3, kNan});
  expect_unary("leaky_relu", {-2, 3}, {-0.2, 3}, 0.1);
  expect_unary("elu", {-1, 2}, {-1.2642411176571153, 2}, 2);
  expect_unary("celu", {-1, 2}, {-0.7869386805747332, 2}, 2);
  expect_unary("selu", {-1, 2}, {-1.896361676485673, 6}, 1, 3);
  expect_unary("hard_sigmoid", {-5, 0, 1, 5}, {0, 0.5, 0.7, 1}, 0.2, 0.5);
  expect_unary("hard_swish", {-4, 0, 1, 4}, {0, 0, 0.6666666666666666, 4});
  expect_unary("mish", {0, 1}, {0, 0.8650983882673103});
  expect_unary("softplus", {0, 100, -100}, {0.6931471805599453, 100, 3.720075976020836e-44});
  expect_unary("softsign", {1, -3}, {0.5, -0.75});
  expect_unary("shrink", {-2, 0.5f, 2}, {-1.5, 0, 1.5}, 1, 0.5);
  expect_unary("thresholded_relu", {1, 2, 3}, {0, 0, 3}, 2);
  expect_unary("floor", {1.5f, -1.5f}, {1, -2});
  expect_unary("ceil", {1.5f, -1.5f}, {2, -1});
  expect_unary("round", {0.5f, 1.5f, 2.5f, -0.5f}, {0, 2, 2, 0});
  expect_unary("sign", {-3, 0, 2}, {-1, 0, 1});
  expect_unary("abs", {-3}, {3});
  expect_unary("neg", {-3}, {3});
  expect_unary("square", {-3}, {9});
  expect_unary("sin", {1}, {0.8414709848078965});
  expect_unary("cos", {1}, {0.5403023058681398});
  expect_unary("tan", {1}, {1.5574077246549023});
  expect_unary("asin", {0.5f}, {0.5235987755982989});
  expect_unary("acos", {0.5f}, {1.0471975511965979});
  expect_unary("atan", {1}, {0.7853981633974483});
  expect_unary("sinh", {1}, {1.1752011936438014});
  expect_unary("cosh", {1}, {1.5430806348152437});
  expect_unary("asinh", {1}, {0.881373587019543});
  expect_unary("acosh", {2}, {1.3169578969248166});
  expect_unary("atanh", {0.5f}, {0.5493061443340549});
}

TEST(Unary, ClassificationAndIntegersAreExact) {
  const auto nan = oracle_run(OpKind::unary, {f32({2}, {std::nanf(""), 1})},
                              {{"fn", std::string("is_nan")}}, {DataType::boolean});
  EXPECT_EQ(shown(nan[0].value), "bool[2]{1, 0}");
  const auto neg =
      oracle_run(OpKind::unary, {i64({1}, {5})}, {{"fn", std::string("neg")}}, {DataType::i64});
  EXPECT_EQ(shown(neg[0].value), "int64[1]{-5}");
}

void expect_binary(const char* fn, const Tensor& a, const Tensor& b, const Shape& shape,
                   const std::vector<double>& y) {
  SCOPED_TRACE(fn);
  expect_oracle(OpKind::binary, {a, b}, {{"fn", std::string(fn)}}, shape, y);
}

TEST(Binary, KnownValues) {
  const Tensor a = f32({2, 1}, {5, -6});
  const Tensor b = f32({2}, {2, 4});
  expect_binary("add", a, b, {2, 2}, {7, 9, -4, -2});
  expect_binary("sub", a, b, {2, 2}, {3, 1, -8, -10});
  expect_binary("mul", a, b, {2, 2}, {10, 20, -12, -24});
  expect_binary("div", a, b, {2, 2}, {2.5, 1.25, -3, -1.5});
  expect_binary("max", a, b, {2, 2}, {5, 5, 2, 4});
  expect_binary("min", a, b, {2, 2}, {2, 4, -6, -6});
  expect_binary("fmod", f32({2}, {-7, 7}), f32({2}, {3, -3}), {2}, {-1, 1});
  expect_binary("mod", f32({2}, {-7, 7}), f32({2}, {3, -3}), {2}, {2, -2});
  expect_binary("pow", f32({3}, {2, -2, 0}), i64({3}, {3, 3, 0}), {3}, {8, -8, 1});
  expect_binary("prelu", f32({2}, {-2, 2}), f32({1}, {0.5f}), {2}, {-1, 2});
  expect_binary("max", f32({2}, {std::nanf(""), 1}), f32({2}, {1, std::nanf("")}), {2},
                {kNan, kNan});
  expect_binary("div", f32({2}, {1, 0}), f32({1}, {0}), {2}, {kInf, kNan});
}

TEST(Binary, IsNotRoundedToTheDeclaredType) {
  const auto y = oracle_run(OpKind::binary, {f32({1}, {1}), f32({1}, {0x1p-40f})},
                            {{"fn", std::string("add")}});
  EXPECT_EQ(y[0].value.as<double>()[0], 1 + 0x1p-40);
  EXPECT_EQ(y[0].rounded().as<float>()[0], 1);
}

TEST(Binary, FlagsOverflow) {
  const graph::Attributes add{{"fn", std::string("add")}};
  const Tensor big = f32({1}, {3e38f});
  EXPECT_TRUE(oracle_run(OpKind::binary, {big, big}, add)[0].overflow);
  const Tensor infinite = f32({1}, {std::numeric_limits<float>::infinity()});
  EXPECT_FALSE(oracle_run(OpKind::binary, {big, infinite}, add)[0].overflow);
}

TEST(Elementwise, ChainWithCondition) {
  // condition ? 2·(x + b) : −b, over broadcast operands.
  using Instr = graph::ElementwiseInstr;
  const auto binary = [](graph::BinaryFn fn, int a, int b) {
    Instr instr;
    instr.kind = Instr::Kind::binary;
    instr.binary = fn;
    instr.a = a;
    instr.b = b;
    return instr;
  };
  Instr negative;
  negative.unary = graph::UnaryFn::neg;
  negative.a = 2;
  Instr choose;
  choose.kind = Instr::Kind::select;
  choose.b = 4;
  choose.c = 5;
  graph::ElementwiseProgram program;
  program.inputs = 3;
  program.code = {binary(graph::BinaryFn::add, 1, 2), binary(graph::BinaryFn::add, 3, 3), negative,
                  choose};
  graph::Attributes attrs;
  graph::store(program, attrs);
  expect_oracle(OpKind::elementwise,
                {bools({2, 1}, {true, false}), f32({3}, {1, 2, 3}), f32({}, {1})}, attrs, {2, 3},
                {4, 6, 8, -1, -1, -1});
}

TEST(Softmax, ByHand) {
  const double e = std::exp(1.0);
  expect_oracle(OpKind::softmax, {f32({2, 2}, {0, 1, 1000, 1000})}, {{"axis", 1L}}, {2, 2},
                {1 / (1 + e), e / (1 + e), 0.5, 0.5});
  expect_oracle(OpKind::softmax, {f32({2, 2}, {0, 1, 1, 1})}, {{"axis", 0L}, {"log", 1L}}, {2, 2},
                {-std::log(1 + e), -std::log(2.0), 1 - std::log(1 + e), -std::log(2.0)});
  expect_oracle(OpKind::softmax, {f32({1, 2}, {0, 2})}, {{"axis", 1L}, {"scale", 0.5}}, {1, 2},
                {1 / (1 + e), e / (1 + e)});
  const float inf = std::numeric_limits<float>::infinity();
  expect_oracle(OpKind::softmax, {f32({2}, {-inf, -inf})}, {{"axis", 0L}}, {2}, {kNan, kNan});
  expect_oracle(OpKind::softmax, {f32({2}, {-inf, -inf})}, {{"axis", 0L}, {"nan_to_zero", 1L}}, {2},
                {0, 0});
}

TEST(Cast, RoundsWhereTheModelSaysSo) {
  const auto y = oracle_run(OpKind::cast, {f32({3}, {1.0f + 0x1p-12f, 65520, 0.1f})},
                            {{"to", DataType::f16}}, {DataType::f16});
  expect_values(y[0], {3}, {1, kInf, 0.0999755859375});
  EXPECT_EQ(y[0].declared, DataType::f16);
  const auto i =
      oracle_run(OpKind::cast, {f32({2}, {-1.5f, 7})}, {{"to", DataType::i64}}, {DataType::i64});
  EXPECT_EQ(shown(i[0].value), "int64[2]{-1, 7}");
}

}  // namespace
}  // namespace concord::test
