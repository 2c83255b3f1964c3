// Numbers that only a run can tell to be wrong: every backend names the node and the number, and
// touches nothing outside a tensor.
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "backends/session.h"
#include "graph/error.h"
#include "tests/backends/models.h"
#include "tests/graph/builder.h"

namespace concord {
namespace {

using graph::Builder;
using graph::OpKind;
using graph::ValueId;

struct BadValue {
  std::string name;
  std::function<void(Builder&)> build;
  std::vector<Tensor> inputs;
  std::vector<std::string> words;  // in the message, beside the node's name
};

constexpr std::int64_t kHuge = std::int64_t{1} << 33;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

Tensor floats(Shape shape) {
  return Builder::random(std::move(shape));
}

Tensor ints(Shape shape, const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>(std::move(shape), std::span<const std::int64_t>(values));
}

// An operator on data [4, 3] and indices.
BadValue indexing(const std::string& name, OpKind op, const graph::Attributes& attrs,
                  const Shape& shape, const std::vector<std::int64_t>& indices,
                  const std::string& value) {
  return {name,
          [=](Builder& b) {
            const ValueId x = b.input("x", DataType::f32, {4, 3});
            const ValueId at = b.input("at", DataType::i64, SymShape(shape.begin(), shape.end()));
            b.output(b.op(op, {x, at}, attrs), "y");
          },
          {floats({4, 3}), ints(shape, indices)},
          {"'at'", value}};
}

BadValue scattering(const std::string& name, OpKind op, const graph::Attributes& attrs,
                    const Shape& shape, const std::vector<std::int64_t>& indices,
                    const Shape& updates, const std::string& value) {
  return {name,
          [=](Builder& b) {
            const ValueId x = b.input("x", DataType::f32, {4, 3});
            const ValueId at = b.input("at", DataType::i64, SymShape(shape.begin(), shape.end()));
            const ValueId u = b.input("u", DataType::f32, SymShape(updates.begin(), updates.end()));
            b.output(b.op(op, {x, at, u}, attrs), "y");
          },
          {floats({4, 3}), ints(shape, indices), floats(updates)},
          {"'at'", value}};
}

// An operator on data [4, 3] and a list that decides its result's shape.
BadValue shaping(const std::string& name, OpKind op, const graph::Attributes& attrs,
                 const std::vector<std::int64_t>& list, std::vector<std::string> words) {
  words.push_back("'by'");
  return {name,
          [=](Builder& b) {
            const ValueId x = b.input("x", DataType::f32, {4, 3});
            const ValueId by =
                b.input("by", DataType::i64, {static_cast<std::int64_t>(list.size())});
            const std::size_t outputs = op == OpKind::split || op == OpKind::top_k ? 2 : 1;
            b.output(b.ops(op, {x, by}, attrs, outputs)[0], "y");
          },
          {floats({4, 3}), ints({static_cast<std::int64_t>(list.size())}, list)},
          words};
}

// An operator on data [4, 3] along an axis that is data.
BadValue along(const std::string& name, OpKind op, std::int64_t axis) {
  return {name,
          [=](Builder& b) {
            const ValueId x = b.input("x", DataType::f32, {4, 3});
            const ValueId by = b.input("by", DataType::i64, {});
            b.output(
                b.op(op, {x, by}, {{"exclusive", std::int64_t{0}}, {"reverse", std::int64_t{0}}}),
                "y");
          },
          {floats({4, 3}), Tensor::scalar(axis)},
          {"'by'", "axis " + std::to_string(axis)}};
}

BadValue dividing(const std::string& fn, DataType type) {
  Tensor divisor = type == DataType::i64
                       ? ints({3}, {1, 0, 2})
                       : Tensor::of<std::int32_t>({3}, std::vector<std::int32_t>{1, 0, 2});
  Tensor x = type == DataType::i64
                 ? ints({3}, {6, 7, 8})
                 : Tensor::of<std::int32_t>({3}, std::vector<std::int32_t>{6, 7, 8});
  return {fn + "_" + std::string(to_string(type)),
          [=](Builder& b) {
            const ValueId a = b.input("a", type, {3});
            const ValueId d = b.input("d", type, {3});
            b.output(b.binary(fn, a, d), "y");
          },
          {std::move(x), std::move(divisor)},
          {"division by zero", "'d'"}};
}

std::vector<BadValue> bad_values() {
  const graph::Attributes axis0 = {{"axis", std::int64_t{0}}};
  const graph::Attributes scatter0 = {{"axis", std::int64_t{0}},
                                      {"reduction", std::string("none")}};
  const graph::Attributes sum0 = {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}};
  const graph::Attributes none = {{"reduction", std::string("none")}};
  const graph::Attributes batch0 = {{"batch_dims", std::int64_t{0}}};
  const std::string huge = std::to_string(kHuge);
  const auto range = [](std::int64_t start, std::int64_t limit, std::int64_t delta,
                        const std::string& word) {
    return BadValue{"range_" + word,
                    [](Builder& b) {
                      const ValueId from = b.input("from", DataType::i64, {});
                      const ValueId to = b.input("to", DataType::i64, {});
                      const ValueId by = b.input("by", DataType::i64, {});
                      b.output(b.range(from, to, by), "y");
                    },
                    {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)},
                    {"'by'", word}};
  };
  std::vector<BadValue> all = {
      indexing("gather_over", OpKind::gather, axis0, {2}, {1, 7}, "7"),
      indexing("gather_under", OpKind::gather, axis0, {2}, {1, -5}, "-5"),
      indexing("gather_far", OpKind::gather, axis0, {2}, {1, kHuge}, huge),
      indexing("gather_nd_over", OpKind::gather_nd, batch0, {2, 2}, {0, 0, 3, 9}, "9"),
      indexing("gather_nd_far", OpKind::gather_nd, batch0, {1, 2}, {-kHuge, 0}, huge),
      indexing("gather_elements", OpKind::gather_elements, axis0, {2, 2}, {0, 1, 11, 3}, "11"),
      scattering("scatter_elements", OpKind::scatter_elements, scatter0, {2, 2}, {0, 1, 12, 3},
                 {2, 2}, "12"),
      scattering("scatter_elements_add", OpKind::scatter_elements, sum0, {2, 2}, {0, 1, -13, 3},
                 {2, 2}, "-13"),
      scattering("scatter_nd", OpKind::scatter_nd, none, {2, 1}, {0, 14}, {2, 3}, "14"),
      scattering("scatter_nd_add", OpKind::scatter_nd, sum0, {2, 1}, {0, -14}, {2, 3}, "-14"),
      indexing("reverse_sequence", OpKind::reverse_sequence,
               {{"batch_axis", std::int64_t{1}}, {"time_axis", std::int64_t{0}}}, {3}, {1, 16, 2},
               "16"),
      along("cum_sum", OpKind::cum_sum, 17),
      along("cum_sum_negative", OpKind::cum_sum, -18),
      along("cum_prod", OpKind::cum_prod, -19),
      shaping("reshape", OpKind::reshape, {{"allow_zero", std::int64_t{0}}}, {5, 3}, {"[5, 3]"}),
      shaping("reshape_negative", OpKind::reshape, {{"allow_zero", std::int64_t{0}}}, {-7, 3},
              {"-7"}),
      shaping("expand", OpKind::broadcast, {}, {5, 3}, {"[5, 3]"}),
      shaping("tile", OpKind::tile, {}, {-2, 1}, {"-2"}),
      shaping("tile_far", OpKind::tile, {}, {kMost, kMost}, {std::to_string(kMost)}),
      shaping("split", OpKind::split, axis0, {1, 2}, {"[1, 2]"}),
      shaping("split_negative", OpKind::split, axis0, {6, -2}, {"-2"}),
      shaping(
          "top_k", OpKind::top_k,
          {{"axis", std::int64_t{0}}, {"largest", std::int64_t{1}}, {"sorted", std::int64_t{1}}},
          {15}, {"15"}),
      shaping("pad", OpKind::pad, {{"mode", std::string("constant")}}, {0, 0, kMost, 0},
              {std::to_string(kMost)}),
      shaping("pad_cut", OpKind::pad, {{"mode", std::string("constant")}}, {-3, 0, -2, 0}, {"-3"}),
      {"slice_step",
       [](Builder& b) {
         const ValueId x = b.input("x", DataType::f32, {4, 3});
         const ValueId by = b.input("by", DataType::i64, {1});
         b.output(b.slice(x, b.ints({0}), b.ints({2}), b.ints({0}), by), "y");
       },
       {floats({4, 3}), ints({1}, {0})},
       {"step", "'by'", "0"}},
      {"one_hot",
       [](Builder& b) {
         const ValueId x = b.input("x", DataType::i64, {2});
         const ValueId depth = b.input("depth", DataType::i64, {});
         const ValueId values = b.constant(Builder::random({2}));
         b.output(b.op(OpKind::one_hot, {x, depth, values}, {{"axis", std::int64_t{1}}}), "y");
       },
       {ints({2}, {0, 1}), Tensor::scalar(std::int64_t{-6})},
       {"'depth'", "-6"}},
      {"constant_of",
       [](Builder& b) {
         const ValueId by = b.input("by", DataType::i64, {2});
         b.output(
             b.op(OpKind::constant_of, {by}, {{"value", Tensor::of<float>({}, std::vector{1.0f})}}),
             "y");
       },
       {ints({2}, {2, -21})},
       {"'by'", "-21"}},
      {"roi_align",
       [](Builder& b) {
         const ValueId x = b.input("x", DataType::f32, {2, 1, 4, 4});
         const ValueId rois = b.input("rois", DataType::f32, {1, 4});
         const ValueId item = b.input("item", DataType::i64, {1});
         b.output(b.op(OpKind::roi_align, {x, rois, item},
                       {{"mode", std::string("avg")},
                        {"height", std::int64_t{2}},
                        {"width", std::int64_t{2}},
                        {"sampling_ratio", std::int64_t{2}},
                        {"scale", 1.0},
                        {"half_pixel", std::int64_t{1}}}),
                  "y");
       },
       {floats({2, 1, 4, 4}), Tensor(DataType::f32, {1, 4}), ints({1}, {22})},
       {"'item'", "22"}},
      range(0, 5, 0, "0"),
      range(kLeast, kMost, 1, std::to_string(kMost)),
  };
  for (const char* fn : {"div", "mod", "fmod"}) {
    all.push_back(dividing(fn, DataType::i64));
    all.push_back(dividing(fn, DataType::i32));
  }
  return all;
}

class BadValues : public testing::TestWithParam<const char*> {};

TEST_P(BadValues, AreNamedWithTheirNode) {
  const std::string backend = GetParam();
  if (!tests::starts_here(backend)) GTEST_SKIP() << backend << " does not start here";
  for (const BadValue& bad : bad_values()) {
    SCOPED_TRACE(bad.name);
    Builder b;
    bad.build(b);
    try {
      SessionOptions options;
      options.log = [](const std::string&) {};
      Session session(std::make_shared<const graph::Graph>(b.graph), parse_spec(backend), options);
      session.run(bad.inputs);
      ADD_FAILURE() << "taken";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(exit_code(error.kind()), 2) << text;
      EXPECT_NE(text.find("node 'n"), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      for (const std::string& word : bad.words) {
        EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' is not in: " << text;
      }
    }
  }
}

// Results that no memory holds, refused before anything grows with the extents.
std::vector<BadValue> too_large() {
  return {{"resize",
           [](Builder& b) {
             const ValueId x = b.input("x", DataType::f32, {1, 1, 4, 4});
             const ValueId sizes = b.input("sizes", DataType::i64, {4});
             b.output(b.op(OpKind::resize, {x, {}, {}, sizes},
                           {{"mode", std::string("linear")},
                            {"coordinates", std::string("half_pixel")},
                            {"nearest", std::string("floor")},
                            {"cubic_a", -0.75},
                            {"exclude_outside", std::int64_t{0}},
                            {"extrapolation", 0.0},
                            {"antialias", std::int64_t{0}},
                            {"keep_aspect", std::string("stretch")}}),
                      "y");
           },
           {floats({1, 1, 4, 4}), ints({4}, {1, kHuge, 4, 4})},
           {"[1, 8589934592, 4, 4]"}},
          {"dft",
           [](Builder& b) {
             const ValueId x = b.input("x", DataType::f32, {1, 4, 1});
             const ValueId length = b.input("length", DataType::i64, {});
             b.output(b.op(OpKind::dft, {x, length},
                           {{"axis", std::int64_t{1}},
                            {"inverse", std::int64_t{0}},
                            {"onesided", std::int64_t{0}}}),
                      "y");
           },
           {floats({1, 4, 1}), Tensor::scalar(kHuge)},
           {"[1, 8589934592, 2]"}}};
}

TEST_P(BadValues, ResultsThatNothingHoldsAreRefused) {
  const std::string backend = GetParam();
  if (!tests::starts_here(backend)) GTEST_SKIP() << backend << " does not start here";
  for (const BadValue& large : too_large()) {
    SCOPED_TRACE(large.name);
    Builder b;
    large.build(b);
    try {
      SessionOptions options;
      options.log = [](const std::string&) {};
      Session session(std::make_shared<const graph::Graph>(b.graph), parse_spec(backend), options);
      session.run(large.inputs);
      ADD_FAILURE() << "taken";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(exit_code(error.kind()), 5) << text;
      EXPECT_NE(text.find("node 'n"), std::string::npos) << text;
      EXPECT_NE(text.find(large.words.front()), std::string::npos) << text;
    }
  }
}

// Other backends refuse what comes before.
TEST(BadExtents, AreBeyondCounting) {
  Builder b;
  ValueId x = b.input("x", DataType::f32, {Dim::symbol("N")});
  for (int i = 0; i < 60; ++i) {
    x = b.op(OpKind::concat, {x, x}, {{"axis", std::int64_t{0}}});
  }
  b.output(x, "y");
  try {
    Session session(std::make_shared<const graph::Graph>(b.graph), parse_spec("cpu"));
    session.run(std::vector<Tensor>{floats({16})});
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(exit_code(error.kind()), 2) << text;
    EXPECT_NE(text.find("64 bits"), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, BadValues,
                         testing::Values("reference", "cpu", "vulkan", "cuda"));

}  // namespace
}  // namespace concord
