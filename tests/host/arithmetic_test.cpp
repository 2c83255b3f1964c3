#include <cmath>
#include <limits>

#include "tests/host/host_case.h"

namespace concord::test {
namespace {

std::string unary(const char* fn, const Tensor& x) {
  return host_text(OpKind::unary, {x}, {{"fn", std::string(fn)}});
}
std::string binary(const char* fn, const Tensor& a, const Tensor& b) {
  return host_text(OpKind::binary, {a, b}, {{"fn", std::string(fn)}});
}

TEST(Arithmetic, UnaryWrapsAround) {
  const Tensor x = tensor<std::int8_t>({3}, {-128, -3, 5});
  EXPECT_EQ(unary("abs", x), "int8[3]{-128, 3, 5}");
  EXPECT_EQ(unary("neg", x), "int8[3]{-128, 3, -5}");
  EXPECT_EQ(unary("sign", x), "int8[3]{-1, -1, 1}");
  EXPECT_EQ(unary("bit_not", x), "int8[3]{127, 2, -6}");
  EXPECT_EQ(unary("relu", x), "int8[3]{0, 0, 5}");
  EXPECT_EQ(unary("logical_not", bools({2}, {true, false})), "bool[2]{0, 1}");
  EXPECT_EQ(unary("identity", strings({1}, {"s"})), "string[1]{s}");
  const OneNode root = one_node(OpKind::unary, {x}, {{"fn", std::string("sqrt")}}, {DataType::i8});
  EXPECT_TRUE(host::why_unsupported(root.graph, root.node()).has_value());
}

TEST(Arithmetic, Classification) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const Tensor x = f32({4}, {inf, -inf, std::nanf(""), 1});
  EXPECT_EQ(unary("is_nan", x), "bool[4]{0, 0, 1, 0}");
  EXPECT_EQ(
      host_text(OpKind::unary, {x}, {{"fn", std::string("is_inf")}, {"alpha", 0.0}, {"beta", 1.0}}),
      "bool[4]{0, 1, 0, 0}");
}

TEST(Arithmetic, BinaryIntegers) {
  const Tensor a = tensor<std::int32_t>({4}, {7, -7, INT32_MIN, 5});
  const Tensor b = tensor<std::int32_t>({4}, {3, 3, -1, -3});
  EXPECT_EQ(binary("add", a, a), "int32[4]{14, -14, 0, 10}");
  EXPECT_EQ(binary("div", a, b), "int32[4]{2, -2, -2147483648, -1}");
  EXPECT_EQ(binary("mod", a, b), "int32[4]{1, 2, 0, -1}");
  EXPECT_EQ(binary("fmod", a, b), "int32[4]{1, -1, 0, 2}");
  EXPECT_EQ(binary("max", a, b), "int32[4]{7, 3, -1, 5}");
  EXPECT_EQ(binary("less", a, b), "bool[4]{0, 1, 1, 0}");
  EXPECT_EQ(binary("pow", tensor<std::int32_t>({3}, {2, -3, 2}), i64({3}, {10, 3, -1})),
            "int32[3]{1024, -27, 0}");
  EXPECT_EQ(binary("pow", tensor<std::int32_t>({3}, {4, 10, -8}), f32({3}, {0.5f, 30, 0.5f})),
            "int32[3]{2, 2147483647, 0}");
  EXPECT_EQ(binary("shift_left", tensor<std::uint8_t>({3}, {1, 200, 1}),
                   tensor<std::uint8_t>({3}, {3, 1, 8})),
            "uint8[3]{8, 144, 0}");
  EXPECT_EQ(binary("sub", tensor<std::uint8_t>({1}, {1}), tensor<std::uint8_t>({1}, {2})),
            "uint8[1]{255}");
  EXPECT_EQ(binary("logical_xor", bools({2}, {true, true}), bools({1}, {true})), "bool[2]{0, 0}");
}

TEST(Arithmetic, DivisionByZeroNamesTheElement) {
  EXPECT_EQ(
      host_error(OpKind::binary, {i64({}, {1}), i64({1, 2}, {1, 0})}, {{"fn", std::string("div")}}),
      "division by zero: element [0, 1] of 'x1' is 0");
}

TEST(Arithmetic, Comparisons) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(binary("equal", strings({2}, {"a", "b"}), strings({1}, {"b"})), "bool[2]{0, 1}");
  EXPECT_EQ(binary("greater_equal", f32({3}, {1, nan, 0}), f32({3}, {1, 1, -0.0f})),
            "bool[3]{1, 0, 1}");
  EXPECT_EQ(binary("equal", f32({1}, {nan}), f32({1}, {nan})), "bool[1]{0}");
}

TEST(Arithmetic, ReduceIntegers) {
  const Tensor x = i64({2, 3}, {1, -2, 3, 4, 5, -6});
  const auto reduce = [&](const char* fn, std::vector<std::int64_t> axes, std::int64_t keep) {
    return host_text(OpKind::reduce, {x},
                     {{"fn", std::string(fn)}, {"axes", std::move(axes)}, {"keepdims", keep}});
  };
  EXPECT_EQ(reduce("sum", {0, 1}, 0), "int64[]{5}");
  EXPECT_EQ(reduce("sum", {1}, 1), "int64[2, 1]{2, 3}");
  EXPECT_EQ(reduce("max", {0}, 0), "int64[3]{4, 5, 3}");
  EXPECT_EQ(reduce("prod", {1}, 0), "int64[2]{-6, -120}");
  EXPECT_EQ(reduce("mean", {1}, 0), "int64[2]{0, 1}");
  EXPECT_EQ(reduce("l1", {1}, 0), "int64[2]{6, 15}");
  EXPECT_EQ(reduce("sum_square", {1}, 0), "int64[2]{14, 77}");
  EXPECT_EQ(
      host_text(
          OpKind::reduce, {bools({2, 2}, {true, false, false, false})},
          {{"fn", std::string("max")}, {"axes", std::vector<std::int64_t>{1}}, {"keepdims", 0L}}),
      "bool[2]{1, 0}");
  EXPECT_EQ(host_text(OpKind::reduce_dynamic, {x, i64({1}, {-1})},
                      {{"fn", std::string("sum")}, {"keepdims", 0L}, {"noop_empty", 0L}}),
            "int64[2]{2, 3}");
  EXPECT_EQ(host_text(OpKind::reduce_dynamic, {x, i64({0}, {})},
                      {{"fn", std::string("sum")}, {"keepdims", 0L}, {"noop_empty", 1L}}),
            "int64[2, 3]{1, -2, 3, 4, 5, -6}");
  EXPECT_NE(
      host_error(
          OpKind::reduce, {i64({0}, {})},
          {{"fn", std::string("max")}, {"axes", std::vector<std::int64_t>{0}}, {"keepdims", 0L}})
          .find("no elements"),
      std::string::npos);
}

TEST(Arithmetic, ArgReduce) {
  const Tensor x = f32({2, 3}, {1, 3, 3, -1, -1, 2});
  const auto arg = [&](const char* fn, std::int64_t axis, std::int64_t last) {
    return host_text(
        OpKind::arg_reduce, {x},
        {{"fn", std::string(fn)}, {"axis", axis}, {"keepdims", 0L}, {"select_last", last}});
  };
  EXPECT_EQ(arg("argmax", 1, 0), "int64[2]{1, 2}");
  EXPECT_EQ(arg("argmax", 1, 1), "int64[2]{2, 2}");
  EXPECT_EQ(arg("argmin", 1, 0), "int64[2]{0, 0}");
  EXPECT_EQ(arg("argmin", 0, 0), "int64[3]{1, 1, 1}");
  EXPECT_EQ(host_text(OpKind::arg_reduce, {f32({3}, {1, std::nanf(""), 2})},
                      {{"fn", std::string("argmax")}, {"axis", 0L}, {"keepdims", 1L}}),
            "int64[1]{1}");
}

TEST(Arithmetic, CumSum) {
  const Tensor x = i64({4}, {1, 2, 3, 4});
  const auto sum = [&](std::int64_t exclusive, std::int64_t reverse) {
    return host_text(OpKind::cum_sum, {x, i64({}, {-1})},
                     {{"exclusive", exclusive}, {"reverse", reverse}});
  };
  EXPECT_EQ(sum(0, 0), "int64[4]{1, 3, 6, 10}");
  EXPECT_EQ(sum(1, 0), "int64[4]{0, 1, 3, 6}");
  EXPECT_EQ(sum(0, 1), "int64[4]{10, 9, 7, 4}");
  EXPECT_EQ(sum(1, 1), "int64[4]{9, 7, 4, 0}");
}

TEST(Arithmetic, TopK) {
  const Tensor x = f32({2, 4}, {1, 4, 4, 2, 0, -1, 3, 3});
  const auto top =
      host_run(OpKind::top_k, {x, i64({1}, {2})}, {{"axis", 1L}, {"largest", 1L}, {"sorted", 1L}});
  EXPECT_EQ(shown(top[0]), "float32[2, 2]{4, 4, 3, 3}");
  EXPECT_EQ(shown(top[1]), "int64[2, 2]{1, 2, 2, 3}");
  const auto low = host_run(OpKind::top_k, {x, {}},
                            {{"axis", 0L}, {"largest", 0L}, {"sorted", 1L}, {"k", SymShape{1}}});
  EXPECT_EQ(shown(low[0]), "float32[1, 4]{0, -1, 3, 2}");
  EXPECT_NE(
      host_error(OpKind::top_k, {x, i64({1}, {5})}, {{"axis", 1L}, {"largest", 1L}, {"sorted", 1L}})
          .find("k = 5"),
      std::string::npos);
}

TEST(Arithmetic, MatmulInteger) {
  // (11 − 12)·1 + (7 − 12)·2 + …: ONNX's own example, by hand.
  const Tensor a = tensor<std::uint8_t>({2, 3}, {11, 7, 3, 10, 6, 2});
  const Tensor b = tensor<std::uint8_t>({3, 2}, {1, 4, 2, 5, 3, 6});
  EXPECT_EQ(host_text(OpKind::matmul_integer,
                      {a, b, tensor<std::uint8_t>({1}, {12}), tensor<std::uint8_t>({1}, {0})}),
            "int32[2, 2]{-38, -83, -44, -98}");
  EXPECT_EQ(host_text(OpKind::matmul_integer, {tensor<std::int8_t>({1, 2}, {1, 2}),
                                               tensor<std::int8_t>({2, 2}, {1, 2, 3, 4}),
                                               {},
                                               tensor<std::int8_t>({2}, {1, 2})}),
            "int32[1, 2]{4, 4}");
}

}  // namespace
}  // namespace concord::test
