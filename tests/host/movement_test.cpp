#include <algorithm>

#include "tests/host/host_case.h"

namespace concord::test {
namespace {

const Tensor kTwoByThree = f32({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Movement, ReshapeResolvesOnnxForm) {
  EXPECT_EQ(host_text(OpKind::reshape, {kTwoByThree, i64({2}, {0, -1})}),
            "float32[2, 3]{1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(host_text(OpKind::reshape, {kTwoByThree, i64({3}, {3, 1, -1})}),
            "float32[3, 1, 2]{1, 2, 3, 4, 5, 6}");
  const Dim n = Dim::symbol("n");
  EXPECT_EQ(host_text(OpKind::reshape, {kTwoByThree, {}}, {{"shape", SymShape{n * 3}}}, {{"n", 2}}),
            "float32[6]{1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(host_text(OpKind::reshape, {f32({0, 3}, {}), i64({2}, {0, 3})}, {{"allow_zero", 1L}}),
            "float32[0, 3]{}");
  EXPECT_NE(host_error(OpKind::reshape, {kTwoByThree, i64({2}, {4, 2})}).find("[4, 2]"),
            std::string::npos);
  EXPECT_NE(host_error(OpKind::reshape, {kTwoByThree, i64({2}, {-2, 3})}).find("negative"),
            std::string::npos);
}

TEST(Movement, TransposeMovesEveryElementSize) {
  EXPECT_EQ(
      host_text(OpKind::transpose, {kTwoByThree}, {{"perm", std::vector<std::int64_t>{1, 0}}}),
      "float32[3, 2]{1, 4, 2, 5, 3, 6}");
  EXPECT_EQ(host_text(OpKind::transpose, {strings({2, 2}, {"a", "b", "c", "d"})},
                      {{"perm", std::vector<std::int64_t>{1, 0}}}),
            "string[2, 2]{a, c, b, d}");
  Tensor packed(DataType::i4, {1, 3});  // 1, −2, 3
  packed.mutable_data()[0] = std::byte{0xE1};
  packed.mutable_data()[1] = std::byte{0x03};
  EXPECT_EQ(host_text(OpKind::transpose, {packed}, {{"perm", std::vector<std::int64_t>{1, 0}}}),
            "int4[3, 1]{1, -2, 3}");
  EXPECT_EQ(host_text(OpKind::transpose, {tensor<std::int8_t>({1, 2, 2}, {1, 2, 3, 4})},
                      {{"perm", std::vector<std::int64_t>{2, 0, 1}}}),
            "int8[2, 1, 2]{1, 3, 2, 4}");
}

TEST(Movement, LargeTransposesAreCutIntoSquares) {
  // Every permutation of [3, 37, 5, 20] against the definition.
  const Shape shape{3, 37, 5, 20};
  Tensor x(DataType::i32, shape);
  for (std::int32_t i = 0; i < x.count(); ++i) {
    x.as_mutable<std::int32_t>()[static_cast<std::size_t>(i)] = i;
  }
  std::vector<std::int64_t> perm{0, 1, 2, 3};
  const Shape strides = contiguous_strides(shape);
  do {
    const Tensor y = host_run(OpKind::transpose, {x}, {{"perm", perm}})[0];
    std::int64_t at = 0;
    const auto extent = [&](std::size_t d) { return shape[static_cast<std::size_t>(perm[d])]; };
    const auto stride = [&](std::size_t d) { return strides[static_cast<std::size_t>(perm[d])]; };
    for (std::int64_t a = 0; a < extent(0); ++a) {
      for (std::int64_t b = 0; b < extent(1); ++b) {
        for (std::int64_t c = 0; c < extent(2); ++c) {
          for (std::int64_t d = 0; d < extent(3); ++d) {
            ASSERT_EQ(y.at_int(at++),
                      a * stride(0) + b * stride(1) + c * stride(2) + d * stride(3));
          }
        }
      }
    }
  } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST(Movement, Broadcast) {
  EXPECT_EQ(host_text(OpKind::broadcast, {i64({2, 1}, {1, 2}), i64({3}, {2, 1, 3})}),
            "int64[2, 2, 3]{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}");
  EXPECT_EQ(host_text(OpKind::broadcast, {i64({3, 1}, {1, 2, 3}), i64({1}, {1})}),
            "int64[3, 1]{1, 2, 3}");
  EXPECT_NE(host_error(OpKind::broadcast, {i64({2}, {1, 2}), i64({1}, {3})}).find("[2] and [3]"),
            std::string::npos);
}

TEST(Movement, SliceClampsAsOnnxSays) {
  const Tensor line = i64({5}, {0, 1, 2, 3, 4});
  const auto slice = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
    return host_text(OpKind::slice,
                     {line, i64({1}, {start}), i64({1}, {end}), i64({1}, {0}), i64({1}, {step})});
  };
  constexpr std::int64_t lowest = INT64_MIN;
  constexpr std::int64_t highest = INT64_MAX;
  EXPECT_EQ(slice(1, 3, 1), "int64[2]{1, 2}");
  EXPECT_EQ(slice(-2, highest, 1), "int64[2]{3, 4}");
  EXPECT_EQ(slice(lowest, highest, 2), "int64[3]{0, 2, 4}");
  EXPECT_EQ(slice(-1, lowest, -1), "int64[5]{4, 3, 2, 1, 0}");
  EXPECT_EQ(slice(highest, 0, -2), "int64[2]{4, 2}");
  EXPECT_EQ(slice(3, 1, 1), "int64[0]{}");
  EXPECT_EQ(slice(20, 30, 1), "int64[0]{}");
  EXPECT_EQ(slice(0, highest, highest), "int64[1]{0}");
  EXPECT_EQ(slice(4, lowest, lowest), "int64[1]{4}");
  EXPECT_NE(
      host_error(OpKind::slice, {line, i64({1}, {0}), i64({1}, {1}), i64({1}, {0}), i64({1}, {0})})
          .find("step"),
      std::string::npos);
  EXPECT_EQ(host_text(OpKind::slice, {kTwoByThree},
                      {{"starts", SymShape{0, 1}},
                       {"ends", SymShape{1, Dim::symbol("n")}},
                       {"axes", std::vector<std::int64_t>{0, 1}},
                       {"steps", std::vector<std::int64_t>{1, 1}}},
                      {{"n", 3}}),
            "float32[1, 2]{2, 3}");
  EXPECT_EQ(host_text(OpKind::slice, {i64({0}, {}), i64({1}, {-1}), i64({1}, {lowest}),
                                      i64({1}, {0}), i64({1}, {-1})}),
            "int64[0]{}");
}

TEST(Movement, PadInEveryMode) {
  const Tensor line = i64({3}, {1, 2, 3});
  const auto pad = [&](const char* mode, std::int64_t begin, std::int64_t end) {
    return host_text(OpKind::pad, {line, i64({2}, {begin, end}), i64({}, {9})},
                     {{"mode", std::string(mode)}});
  };
  EXPECT_EQ(pad("constant", 1, 2), "int64[6]{9, 1, 2, 3, 9, 9}");
  EXPECT_EQ(pad("edge", 2, 1), "int64[6]{1, 1, 1, 2, 3, 3}");
  EXPECT_EQ(pad("reflect", 2, 1), "int64[6]{3, 2, 1, 2, 3, 2}");
  EXPECT_EQ(pad("reflect", 5, 0), "int64[8]{2, 1, 2, 3, 2, 1, 2, 3}");
  EXPECT_EQ(pad("wrap", 1, 4), "int64[8]{3, 1, 2, 3, 1, 2, 3, 1}");
  EXPECT_EQ(pad("constant", -1, 1), "int64[3]{2, 3, 9}");
  EXPECT_EQ(
      host_text(OpKind::pad, {kTwoByThree, i64({2}, {1, 0}), {}, tensor<std::int32_t>({1}, {-1})},
                {{"mode", std::string("constant")}}),
      "float32[2, 4]{0, 1, 2, 3, 0, 4, 5, 6}");
  EXPECT_NE(host_error(OpKind::pad, {line, i64({2}, {-2, -2})}, {{"mode", std::string("constant")}})
                .find("-2"),
            std::string::npos);
}

TEST(Movement, ConcatAndSplit) {
  EXPECT_EQ(
      host_text(OpKind::concat, {i64({2, 1}, {1, 2}), i64({2, 2}, {3, 4, 5, 6})}, {{"axis", 1L}}),
      "int64[2, 3]{1, 3, 4, 2, 5, 6}");
  EXPECT_NE(
      host_error(OpKind::concat, {i64({1}, {1}), f32({1}, {1})}, {{"axis", 0L}}).find("float32[1]"),
      std::string::npos);
  const auto parts = host_run(OpKind::split, {kTwoByThree, i64({2}, {1, 2})}, {{"axis", 1L}},
                              {DataType::f32, DataType::f32});
  EXPECT_EQ(shown(parts[0]), "float32[2, 1]{1, 4}");
  EXPECT_EQ(shown(parts[1]), "float32[2, 2]{2, 3, 5, 6}");
  EXPECT_NE(host_error(OpKind::split, {kTwoByThree, i64({2}, {1, 1})}, {{"axis", 1L}},
                       {DataType::f32, DataType::f32})
                .find("[1, 1]"),
            std::string::npos);
}

TEST(Movement, Tile) {
  EXPECT_EQ(host_text(OpKind::tile, {i64({1, 2}, {1, 2}), i64({2}, {2, 2})}),
            "int64[2, 4]{1, 2, 1, 2, 1, 2, 1, 2}");
  EXPECT_EQ(host_text(OpKind::tile, {i64({2}, {1, 2}), i64({1}, {0})}), "int64[0]{}");
}

TEST(Movement, GatherAndItsErrors) {
  EXPECT_EQ(host_text(OpKind::gather, {kTwoByThree, tensor<std::int32_t>({1, 2}, {-1, 0})},
                      {{"axis", 1L}}),
            "float32[2, 1, 2]{3, 1, 6, 4}");
  EXPECT_EQ(host_text(OpKind::gather, {i64({3}, {7, 8, 9}), i64({}, {1})}, {{"axis", 0L}}),
            "int64[]{8}");
  EXPECT_EQ(host_error(OpKind::gather, {kTwoByThree, i64({2, 2}, {0, 1, 2, 0})}, {{"axis", 0L}}),
            "index 2 at [1, 0] of 'x1' is out of range for an axis of 2 elements");
  EXPECT_EQ(
      host_text(OpKind::gather_elements, {kTwoByThree, i64({2, 2}, {0, -1, 1, 1})}, {{"axis", 1L}}),
      "float32[2, 2]{1, 3, 5, 5}");
  EXPECT_EQ(
      host_text(OpKind::gather_nd, {kTwoByThree, i64({2, 2}, {0, 1, 1, -1})}, {{"batch_dims", 0L}}),
      "float32[2]{2, 6}");
  EXPECT_EQ(host_text(OpKind::gather_nd, {kTwoByThree, i64({2, 1}, {2, 0})}, {{"batch_dims", 1L}}),
            "float32[2]{3, 4}");
  EXPECT_EQ(host_error(OpKind::gather_nd, {kTwoByThree, i64({1, 2}, {0, 3})}, {{"batch_dims", 0L}}),
            "index 3 at [0, 1] of 'x1' is out of range for an axis of 3 elements");
}

TEST(Movement, Scatter) {
  EXPECT_EQ(
      host_text(OpKind::scatter_elements, {kTwoByThree, i64({1, 2}, {1, 0}), f32({1, 2}, {8, 9})},
                {{"axis", 0L}, {"reduction", std::string("none")}}),
      "float32[2, 3]{1, 9, 3, 8, 5, 6}");
  EXPECT_EQ(host_text(OpKind::scatter_elements,
                      {i64({3}, {1, 2, 3}), i64({3}, {0, 0, -1}), i64({3}, {5, 6, 7})},
                      {{"axis", 0L}, {"reduction", std::string("add")}}),
            "int64[3]{12, 2, 10}");
  EXPECT_EQ(
      host_text(OpKind::scatter_nd, {f32({3}, {1, 2, 3}), i64({2, 1}, {0, 0}), f32({2}, {5, 0.5f})},
                {{"reduction", std::string("min")}}),
      "float32[3]{0.5, 2, 3}");
  EXPECT_EQ(host_text(OpKind::scatter_nd,
                      {i64({2, 2}, {1, 2, 3, 4}), i64({1, 1}, {1}), i64({1, 2}, {5, 6})},
                      {{"reduction", std::string("mul")}}),
            "int64[2, 2]{1, 2, 15, 24}");
  const OneNode sums =
      one_node(OpKind::scatter_nd, {f32({1}, {0}), i64({1, 1}, {0}), f32({1}, {1})},
               {{"reduction", std::string("add")}}, {DataType::f32});
  EXPECT_TRUE(host::why_unsupported(sums.graph, sums.node()).has_value());
}

TEST(Movement, Select) {
  EXPECT_EQ(
      host_text(OpKind::select, {bools({2, 1}, {true, false}), i64({}, {1}), i64({2}, {3, 4})}),
      "int64[2, 2]{1, 1, 3, 4}");
}

TEST(Movement, Triangles) {
  const Tensor square = i64({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(host_text(OpKind::trilu, {square}, {{"upper", 1L}}), "int64[2, 3]{1, 2, 3, 0, 5, 6}");
  EXPECT_EQ(host_text(OpKind::trilu, {square, i64({}, {-1})}, {{"upper", 0L}}),
            "int64[2, 3]{0, 0, 0, 4, 0, 0}");
}

TEST(Movement, ReverseSequence) {
  EXPECT_EQ(host_text(OpKind::reverse_sequence, {i64({2, 3}, {1, 2, 3, 4, 5, 6}), i64({2}, {2, 3})},
                      {{"batch_axis", 0L}, {"time_axis", 1L}}),
            "int64[2, 3]{2, 1, 3, 6, 5, 4}");
  EXPECT_NE(host_error(OpKind::reverse_sequence, {i64({1, 2}, {1, 2}), i64({1}, {3})},
                       {{"batch_axis", 0L}, {"time_axis", 1L}})
                .find("length 3"),
            std::string::npos);
}

}  // namespace
}  // namespace concord::test
