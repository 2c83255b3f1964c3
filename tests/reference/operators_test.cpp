#include "tests/reference/oracle_case.h"

namespace concord::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

graph::Attributes reduction(const char* fn, std::vector<std::int64_t> axes, std::int64_t keepdims) {
  return {{"fn", std::string(fn)}, {"axes", std::move(axes)}, {"keepdims", keepdims}};
}

TEST(Reduce, EveryFunction) {
  const Tensor x = f32({2, 2}, {1, -2, 3, 4});
  expect_oracle(OpKind::reduce, {x}, reduction("sum", {1}, 1), {2, 1}, {-1, 7});
  expect_oracle(OpKind::reduce, {x}, reduction("mean", {0}, 0), {2}, {2, 1});
  expect_oracle(OpKind::reduce, {x}, reduction("max", {0, 1}, 0), {}, {4});
  expect_oracle(OpKind::reduce, {x}, reduction("min", {1}, 0), {2}, {-2, 3});
  expect_oracle(OpKind::reduce, {x}, reduction("prod", {1}, 0), {2}, {-2, 12});
  expect_oracle(OpKind::reduce, {x}, reduction("l1", {1}, 0), {2}, {3, 7});
  expect_oracle(OpKind::reduce, {x}, reduction("l2", {1}, 0), {2}, {std::sqrt(5.0), 5});
  expect_oracle(OpKind::reduce, {x}, reduction("sum_square", {1}, 0), {2}, {5, 25});
  expect_oracle(OpKind::reduce, {f32({2}, {1, 2})}, reduction("log_sum", {0}, 0), {},
                {std::log(3.0)});
  expect_oracle(OpKind::reduce, {f32({2}, {1000, 1000})}, reduction("log_sum_exp", {0}, 0), {},
                {1000 + std::log(2.0)});
}

TEST(Reduce, NoElements) {
  const Tensor none = f32({2, 0}, {});
  expect_oracle(OpKind::reduce, {none}, reduction("sum", {1}, 0), {2}, {0, 0});
  expect_oracle(OpKind::reduce, {none}, reduction("prod", {1}, 0), {2}, {1, 1});
  expect_oracle(OpKind::reduce, {none}, reduction("max", {1}, 0), {2}, {-kInf, -kInf});
  expect_oracle(OpKind::reduce, {none}, reduction("min", {1}, 0), {2}, {kInf, kInf});
}

TEST(Reduce, AxesThatOnlyTheRunKnows) {
  const graph::Attributes attrs{{"fn", std::string("sum")}, {"keepdims", 0L}, {"noop_empty", 0L}};
  const Tensor x = f32({2, 2}, {1, 2, 3, 4});
  expect_oracle(OpKind::reduce_dynamic, {x, i64({1}, {-2})}, attrs, {2}, {4, 6});
  expect_oracle(OpKind::reduce_dynamic, {x, i64({0}, {})}, attrs, {}, {10});
}

TEST(CumSum, Floats) {
  const Tensor x = f32({3}, {0.5f, 1, 2});
  expect_oracle(OpKind::cum_sum, {x, i64({}, {0})}, {{"exclusive", 0L}, {"reverse", 0L}}, {3},
                {0.5, 1.5, 3.5});
  expect_oracle(OpKind::cum_sum, {x}, {{"axis", 0L}, {"exclusive", 1L}, {"reverse", 1L}}, {3},
                {3, 2, 0});
}

TEST(Scatter, FloatSums) {
  expect_oracle(OpKind::scatter_elements,
                {f32({3}, {1, 2, 3}), i64({3}, {0, 0, 2}), f32({3}, {0.5f, 0.25f, 2})},
                {{"axis", 0L}, {"reduction", std::string("add")}}, {3}, {1.75, 2, 5});
  expect_oracle(OpKind::scatter_nd,
                {f32({2, 2}, {1, 2, 3, 4}), i64({1, 1}, {1}), f32({1, 2}, {2, 3})},
                {{"reduction", std::string("mul")}}, {2, 2}, {1, 2, 6, 12});
  expect_oracle(OpKind::scatter_nd, {f32({2}, {1, 2}), i64({1, 1}, {1}), f32({1}, {9})},
                {{"reduction", std::string("none")}}, {2}, {1, 9});
}

TEST(Movement, StaysExactAndWide) {
  expect_oracle(OpKind::gather, {f32({2, 2}, {1, 2, 3, 4}), i64({1}, {-1})}, {{"axis", 0L}}, {1, 2},
                {3, 4});
  expect_oracle(OpKind::transpose, {f32({1, 2}, {1, 2})}, {{"perm", ints({1, 0})}}, {2, 1}, {1, 2});
  expect_oracle(OpKind::pad, {f32({1}, {1}), i64({2}, {1, 0}), f32({}, {0.5f})},
                {{"mode", std::string("constant")}}, {2}, {0.5, 1});
  expect_oracle(OpKind::concat, {f32({1}, {1}), f32({1}, {2})}, {{"axis", 0L}}, {2}, {1, 2});
  expect_oracle(OpKind::select, {bools({2}, {true, false}), f32({2}, {1, 2}), f32({1}, {9})}, {},
                {2}, {1, 9});
  expect_oracle(OpKind::range, {f32({}, {0.5f}), f32({}, {2}), f32({}, {0.5f})}, {}, {3},
                {0.5, 1, 1.5});
  const auto top =
      oracle_run(OpKind::top_k, {f32({3}, {1, 3, 2}), i64({1}, {2})},
                 {{"axis", 0L}, {"largest", 1L}, {"sorted", 1L}}, {DataType::f32, DataType::i64});
  expect_values(top[0], {2}, {3, 2});
  EXPECT_EQ(shown(top[1].value), "int64[2]{1, 2}");
}

TEST(Einsum, ContractionsDiagonalsAndEllipses) {
  const auto einsum = [](const char* equation) {
    return graph::Attributes{{"equation", std::string(equation)}};
  };
  const Tensor a = f32({2, 2}, {1, 2, 3, 4});
  const Tensor b = f32({2, 2}, {5, 6, 7, 8});
  expect_oracle(OpKind::einsum, {a, b}, einsum("ij,jk->ik"), {2, 2}, {19, 22, 43, 50});
  expect_oracle(OpKind::einsum, {a, b}, einsum("ij, kj"), {2, 2}, {17, 23, 39, 53});
  expect_oracle(OpKind::einsum, {a}, einsum("ii->i"), {2}, {1, 4});
  expect_oracle(OpKind::einsum, {a}, einsum("ij->"), {}, {10});
  expect_oracle(OpKind::einsum, {a, f32({2}, {1, 10})}, einsum("...j,j->..."), {2}, {21, 43});
  expect_oracle(OpKind::einsum, {f32({2}, {1, 2}), f32({2}, {3, 4}), f32({2}, {5, 6})},
                einsum("i,i,i->i"), {2}, {15, 48});
  EXPECT_THROW(oracle_run(OpKind::einsum, {a}, einsum("ijk->i")), Error);
}

TEST(MatmulNbits, UnpacksLowBitsFirst) {
  // One row, k = 4, blocks of 2 (a byte each): q = 1, 2 | 3, 12; zero point 8; scales 1 and 2.
  const Tensor packed = tensor<std::uint8_t>({1, 2, 1}, {0x21, 0xC3});
  const graph::Attributes attrs{{"bits", 4L}, {"block_size", 2L}, {"k", 4L}, {"n", 1L}};
  const Tensor x = f32({1, 4}, {1, 1, 1, 1});
  expect_oracle(OpKind::matmul_nbits, {x, packed, f32({2}, {1, 2})}, attrs, {1, 1},
                {-7 - 6 - 10 + 8});
  // Zero points of 1 and 2 in one byte; a bias.
  expect_oracle(OpKind::matmul_nbits,
                {x, packed, f32({2}, {1, 2}), tensor<std::uint8_t>({1}, {0x21}), f32({1}, {100})},
                attrs, {1, 1}, {100 + 0 + 1 + 2 + 20});
}

TEST(Quantise, RoundsToEvenAndClamps) {
  const auto y = oracle_run(
      OpKind::quantize,
      {f32({6}, {0.5f, 1.5f, -3, 300, 2.4f, -1000}), f32({}, {1}), tensor<std::uint8_t>({}, {10})},
      {{"to", DataType::u8}, {"axis", 0L}, {"block_size", 0L}, {"saturate", 1L}}, {DataType::u8});
  EXPECT_EQ(shown(y[0].value), "uint8[6]{10, 12, 7, 255, 12, 0}");
  EXPECT_EQ(y[0].unrounded.as<double>()[1], 11.5);
  const auto by_axis = oracle_run(
      OpKind::quantize, {f32({2, 2}, {1, 2, 3, 4}), f32({2}, {1, 0.5f})},
      {{"to", DataType::i8}, {"axis", 1L}, {"block_size", 0L}, {"saturate", 1L}}, {DataType::i8});
  EXPECT_EQ(shown(by_axis[0].value), "int8[2, 2]{1, 4, 3, 8}");
}

TEST(Dequantise, OneScaleAxesAndBlocks) {
  const auto attrs = [](std::int64_t axis, std::int64_t block) {
    return graph::Attributes{{"axis", axis}, {"block_size", block}, {"to", DataType::f32}};
  };
  const Tensor q = tensor<std::int8_t>({2, 2}, {1, 2, 3, 4});
  expect_oracle(OpKind::dequantize, {q, f32({}, {0.5f}), tensor<std::int8_t>({}, {1})}, attrs(0, 0),
                {2, 2}, {0, 0.5, 1, 1.5});
  expect_oracle(OpKind::dequantize, {q, f32({2}, {1, 10})}, attrs(0, 0), {2, 2}, {1, 2, 30, 40});
  expect_oracle(OpKind::dequantize, {q, f32({2, 1}, {1, 10})}, attrs(1, 2), {2, 2}, {1, 2, 30, 40});
  expect_oracle(OpKind::dequantize, {tensor<std::int8_t>({4}, {1, 2, 3, 4}), f32({2}, {1, 10})},
                attrs(0, 2), {4}, {1, 2, 30, 40});
  EXPECT_THROW(oracle_run(OpKind::dequantize, {q, f32({3}, {1, 2, 3})}, attrs(0, 0)), Error);
}

TEST(DynamicQuantise, ByHand) {
  const auto y = oracle_run(OpKind::dynamic_quantize, {f32({3}, {-1, 0, 4.1f})}, {},
                            {DataType::u8, DataType::f32, DataType::u8});
  EXPECT_NEAR(y[1].value.at_double(0), 5.1 / 255, 1e-8);
  EXPECT_EQ(shown(y[2].value), "uint8[]{50}");
  EXPECT_EQ(shown(y[0].value), "uint8[3]{0, 50, 255}");
}

}  // namespace
}  // namespace concord::test
