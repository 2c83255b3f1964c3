#include "tests/host/host_case.h"

namespace concord::test {
namespace {

TEST(Creation, ShapeOf) {
  const Tensor x(DataType::f32, {2, 3, 5});
  EXPECT_EQ(host_text(OpKind::shape_of, {x}), "int64[3]{2, 3, 5}");
  EXPECT_EQ(host_text(OpKind::shape_of, {x}, {{"start", -2L}, {"end", 9L}}), "int64[2]{3, 5}");
}

TEST(Creation, ConstantOf) {
  EXPECT_EQ(host_text(OpKind::constant_of, {i64({2}, {1, 2})}, {{"value", f32({1}, {0.5f})}}),
            "float32[1, 2]{0.5, 0.5}");
  EXPECT_EQ(host_text(OpKind::constant_of, {}, {{"value", i64({1}, {7})}, {"shape", SymShape{}}}),
            "int64[]{7}");
  EXPECT_NE(host_error(OpKind::constant_of, {i64({1}, {-1})}, {{"value", i64({1}, {7})}})
                .find("negative"),
            std::string::npos);
}

TEST(Creation, Range) {
  EXPECT_EQ(host_text(OpKind::range, {i64({}, {1}), i64({}, {6}), i64({}, {2})}),
            "int64[3]{1, 3, 5}");
  EXPECT_EQ(host_text(OpKind::range, {i64({}, {5}), i64({}, {0}), i64({}, {-2})}),
            "int64[3]{5, 3, 1}");
  EXPECT_EQ(host_text(OpKind::range, {f32({}, {0}), f32({}, {1}), f32({}, {0.25f})}),
            "float32[4]{0, 0.25, 0.5, 0.75}");
  EXPECT_EQ(host_text(OpKind::range, {i64({}, {3}), i64({}, {1}), i64({}, {1})}), "int64[0]{}");
  EXPECT_NE(host_error(OpKind::range, {i64({}, {3}), i64({}, {1}), i64({}, {0})}).find("'x2'"),
            std::string::npos);
  EXPECT_NE(host_error(OpKind::range, {i64({}, {INT64_MIN}), i64({}, {INT64_MAX}), i64({}, {1})})
                .find("too many"),
            std::string::npos);
}

TEST(Creation, Nonzero) {
  EXPECT_EQ(host_text(OpKind::nonzero, {bools({2, 2}, {true, false, true, true})}),
            "int64[2, 3]{0, 1, 1, 0, 0, 1}");
  EXPECT_EQ(host_text(OpKind::nonzero, {f32({3}, {0, -0.0f, 2})}), "int64[1, 1]{2}");
}

TEST(Creation, Unique) {
  const auto sorted = host_run(OpKind::unique, {f32({5}, {2, 1, 2, 3, 1})}, {{"sorted", 1L}});
  EXPECT_EQ(shown(sorted[0]), "float32[3]{1, 2, 3}");
  EXPECT_EQ(shown(sorted[1]), "int64[3]{1, 0, 3}");
  EXPECT_EQ(shown(sorted[2]), "int64[5]{1, 0, 1, 2, 0}");
  EXPECT_EQ(shown(sorted[3]), "int64[3]{2, 2, 1}");
  const auto met = host_run(OpKind::unique, {strings({3}, {"b", "a", "b"})}, {{"sorted", 0L}});
  EXPECT_EQ(shown(met[0]), "string[2]{b, a}");
  const auto rows =
      host_run(OpKind::unique, {i64({3, 2}, {2, 0, 1, 0, 2, 0})}, {{"axis", 0L}, {"sorted", 1L}});
  EXPECT_EQ(shown(rows[0]), "int64[2, 2]{1, 0, 2, 0}");
  EXPECT_EQ(shown(rows[1]), "int64[2]{1, 0}");
  const auto columns =
      host_run(OpKind::unique, {i64({2, 3}, {2, 1, 2, 0, 0, 0})}, {{"axis", 1L}, {"sorted", 1L}});
  EXPECT_EQ(shown(columns[0]), "int64[2, 2]{1, 2, 0, 0}");
}

TEST(Creation, OneHotAndEye) {
  EXPECT_EQ(host_text(OpKind::one_hot, {i64({3}, {0, -1, 5}), i64({}, {3}), f32({2}, {0, 1})},
                      {{"axis", 1L}}),
            "float32[3, 3]{1, 0, 0, 0, 0, 1, 0, 0, 0}");
  EXPECT_EQ(host_text(OpKind::one_hot, {i64({2}, {0, 1}), {}, i64({2}, {5, 6})},
                      {{"axis", 0L}, {"depth", SymShape{3}}}),
            "int64[3, 2]{6, 5, 5, 6, 5, 5}");
  EXPECT_EQ(host_text(OpKind::eye_like, {i64({2, 3}, {0, 0, 0, 0, 0, 0})},
                      {{"to", DataType::f16}, {"k", 1L}}),
            "float16[2, 3]{0, 1, 0, 0, 0, 1}");
}

}  // namespace
}  // namespace concord::test
