#include "tests/host/host_case.h"

namespace concord::test {
namespace {

Tensor sequence(std::vector<Tensor> items) {
  return Tensor::container(sequence_of(DataType::f32), std::move(items));
}

std::string shown_items(const Tensor& container) {
  std::string text = std::string(to_string(container.dtype())) + ":";
  for (const Tensor& item : container.items()) text += " " + shown(item);
  return text;
}

Tensor run_fn(const char* fn, const std::vector<Tensor>& inputs, graph::Attributes attrs = {}) {
  attrs.set("fn", std::string(fn));
  return host_run(OpKind::sequence, inputs, std::move(attrs)).at(0);
}

TEST(Sequence, IsMadeOfItsOperands) {
  const graph::Attributes to{{"to", sequence_of(DataType::f32)}};
  EXPECT_EQ(shown_items(run_fn("make", {f32({2}, {1, 2}), f32({}, {3})}, to)),
            "sequence(float32): float32[2]{1, 2} float32[]{3}");
  EXPECT_EQ(shown_items(run_fn("make", {}, to)), "sequence(float32):");
}

TEST(Sequence, GivesAnItem) {
  const Tensor s = sequence({f32({1}, {1}), f32({2}, {2, 3})});
  EXPECT_EQ(shown(run_fn("at", {s, i64({}, {0})})), "float32[1]{1}");
  EXPECT_EQ(shown(run_fn("at", {s, i64({}, {-1})})), "float32[2]{2, 3}");
  EXPECT_NE(host_error(OpKind::sequence, {s, i64({}, {2})}, {{"fn", std::string("at")}})
                .find("position 2 is out of range for the 2 items"),
            std::string::npos);
}

TEST(Sequence, GivesWhatAnOptionalHolds) {
  const Tensor full = Tensor::container(optional_of(DataType::f32), {f32({1}, {4})});
  EXPECT_EQ(shown(run_fn("at", {full})), "float32[1]{4}");
  const Tensor empty = Tensor::container(optional_of(DataType::f32), {});
  EXPECT_NE(host_error(OpKind::sequence, {empty}, {{"fn", std::string("at")}}).find("is empty"),
            std::string::npos);
}

TEST(Sequence, TakesInAndGivesUpItems) {
  const Tensor s = sequence({f32({}, {1}), f32({}, {2})});
  EXPECT_EQ(shown_items(run_fn("insert", {s, f32({}, {9})})),
            "sequence(float32): float32[]{1} float32[]{2} float32[]{9}");
  EXPECT_EQ(shown_items(run_fn("insert", {s, f32({}, {9}), i64({}, {-2})})),
            "sequence(float32): float32[]{9} float32[]{1} float32[]{2}");
  EXPECT_EQ(shown_items(run_fn("erase", {s})), "sequence(float32): float32[]{1}");
  EXPECT_EQ(shown_items(run_fn("erase", {s, i64({}, {0})})), "sequence(float32): float32[]{2}");
  EXPECT_NE(host_error(OpKind::sequence, {s, i64({}, {-3})}, {{"fn", std::string("erase")}})
                .find("position -3"),
            std::string::npos);
  EXPECT_EQ(s.items().size(), 2U);
}

TEST(Sequence, IsJoinedAndStacked) {
  const Tensor s = sequence({f32({1, 2}, {1, 2}), f32({1, 2}, {3, 4})});
  const auto attrs = [](std::int64_t axis, std::int64_t new_axis) {
    return graph::Attributes{{"axis", axis}, {"new_axis", new_axis}};
  };
  EXPECT_EQ(shown(run_fn("concat", {s}, attrs(0, 0))), "float32[2, 2]{1, 2, 3, 4}");
  EXPECT_EQ(shown(run_fn("concat", {s}, attrs(-1, 0))), "float32[1, 4]{1, 2, 3, 4}");
  EXPECT_EQ(shown(run_fn("concat", {s}, attrs(-1, 1))), "float32[1, 2, 2]{1, 3, 2, 4}");
}

TEST(Sequence, IsMadeByDividingATensor) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto attrs = [](std::int64_t keep) {
    return graph::Attributes{{"axis", std::int64_t{-1}}, {"keepdims", keep}};
  };
  EXPECT_EQ(shown_items(run_fn("split", {x}, attrs(0))),
            "sequence(float32): float32[2]{1, 4} float32[2]{2, 5} float32[2]{3, 6}");
  EXPECT_EQ(shown_items(run_fn("split", {x, i64({}, {2})}, attrs(0))),
            "sequence(float32): float32[2, 2]{1, 2, 4, 5} float32[2, 1]{3, 6}");
  EXPECT_EQ(shown_items(run_fn("split", {x, i64({2}, {1, 2})}, attrs(1))),
            "sequence(float32): float32[2, 1]{1, 4} float32[2, 2]{2, 3, 5, 6}");
  EXPECT_EQ(shown_items(run_fn("split", {f32({2, 0}, {})}, attrs(1))), "sequence(float32):");
}

TEST(Containers, AreTensorsOfTensors) {
  const DataType type = optional_of(sequence_of(DataType::i64));
  EXPECT_EQ(to_string(type), "optional(sequence(int64))");
  EXPECT_EQ(parse_dtype("optional(sequence(int64))"), type);
  EXPECT_EQ(item_type(type), sequence_of(DataType::i64));
  EXPECT_EQ(item_type(item_type(type)), DataType::i64);
  EXPECT_TRUE(is_optional(type));
  EXPECT_FALSE(is_sequence(type));
  const Tensor a = sequence({f32({1}, {1})});
  EXPECT_TRUE(identical(a, a.clone()));
  EXPECT_FALSE(identical(a, sequence({f32({1}, {2})})));
  EXPECT_FALSE(identical(a, sequence({})));
}

}  // namespace
}  // namespace concord::test
