// Movement and integer operators against the host interpreter, which is the oracle for them.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/host/host.h"
#include "graph/error.h"
#include "graph/schema.h"
#include "tests/gpu/lowering_fixture.h"

namespace concord::gpu {
namespace {

std::vector<Tensor> expected(const NodeCase& test) {
  graph::Graph graph;
  graph::Node node;
  node.op = graph::parse_op(test.op).value();
  node.attrs = test.attrs;
  for (const Tensor& tensor : test.inputs) {
    node.inputs.push_back(tensor.defined() ? graph.add_constant("c", tensor) : graph::ValueId{});
  }
  for (const DataType dtype : test.outputs) node.outputs.push_back(graph.add_value("y", dtype));
  const graph::NodeId id = graph.add_node(node);
  graph::infer(graph, id);
  return host::run(graph, graph.node(id), test.inputs, {});
}

std::string listed(const Tensor& tensor) {
  std::string text;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(tensor.count(), 30); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(tensor.at_double(i));
  }
  return text;
}

void check(const NodeCase& test) {
  const std::vector<Tensor> wanted = expected(test);
  const std::vector<Tensor> got = run_node(test);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].shape(), wanted[i].shape());
    EXPECT_TRUE(identical(got[i], wanted[i]))
        << test.op << " output " << i << ": " << to_string(got[i].dtype()) << " " << listed(got[i])
        << " instead of " << to_string(wanted[i].dtype()) << " " << listed(wanted[i]);
  }
}

using Ints = std::vector<std::int64_t>;

SymShape sym(const Ints& values) {
  return {values.begin(), values.end()};
}

TEST(LowerMoves, reshape) {
  check({"reshape",
         {{"shape", sym({6, 4})}, {"allow_zero", std::int64_t{0}}},
         {random_floats({2, 3, 4}, 1)}});
}

TEST(LowerMoves, transpose) {
  for (const Ints& perm :
       {Ints{0, 2, 1, 3}, Ints{3, 2, 1, 0}, Ints{0, 1, 3, 2}, Ints{2, 0, 3, 1}}) {
    check({"transpose", {{"perm", perm}}, {random_floats({2, 3, 4, 5}, 1)}});
  }
  check({"transpose", {{"perm", Ints{0, 2, 1, 3}}}, {random_floats({2, 1, 4, 5}, 1)}});
  check({"transpose", {{"perm", Ints{1, 0}}}, {random_floats({100, 77}, 1)}});
}

TEST(LowerMoves, broadcast) {
  check({"broadcast", {{"shape", sym({2, 3, 4})}}, {random_floats({3, 1}, 1)}});
  check({"broadcast", {{"shape", sym({1, 1, 1})}}, {random_floats({3, 1}, 1)}});
  check({"broadcast", {{"shape", sym({2, 5})}}, {random_floats({}, 1)}});
}

graph::Attributes slice(const Ints& starts, const Ints& ends, const Ints& axes, const Ints& steps) {
  return {{"starts", sym(starts)}, {"ends", sym(ends)}, {"axes", axes}, {"steps", steps}};
}

TEST(LowerMoves, slice) {
  const Tensor x = random_floats({6, 8, 4}, 1);
  check({"slice", slice({1}, {3}, {0}, {1}), {x}});
  check({"slice", slice({1, 2}, {5, 7}, {0, 1}, {2, 3}), {x}});
  check({"slice", slice({-2}, {1000}, {2}, {1}), {x}});
  check({"slice", slice({-1}, {-1000}, {1}, {-1}), {x}});
  check({"slice", slice({4}, {0}, {0}, {-2}), {x}});
  check({"slice", slice({3}, {3}, {0}, {1}), {x}});
  check({"slice", slice({0}, {9223372036854775807}, {1}, {1}), {x}});
}

TEST(LowerMoves, concat) {
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    Shape second{2, 3, 4};
    second[static_cast<std::size_t>(axis)] = 5;
    Shape empty{2, 3, 4};
    empty[static_cast<std::size_t>(axis)] = 0;
    const Tensor a = random_floats({2, 3, 4}, 1);
    check({"concat", {{"axis", axis}}, {a, random_floats(second, 2), a}});
    check({"concat", {{"axis", axis}}, {random_floats(empty, 2), a}});
    check({"concat", {{"axis", axis}}, {a, random_floats(empty, 2), a}});
  }
}

TEST(LowerMoves, split) {
  for (std::int64_t axis = 0; axis < 2; ++axis) {
    check({"split",
           {{"axis", axis}, {"sizes", sym({1, 4, 3})}},
           {random_floats({8, 8}, 1)},
           {},
           {DataType::f32, DataType::f32, DataType::f32}});
  }
}

TEST(LowerMoves, tile) {
  check({"tile", {{"repeats", sym({2, 1, 3})}}, {random_floats({2, 3, 4}, 1)}});
  check({"tile", {{"repeats", sym({1, 1})}}, {random_floats({2, 3}, 1)}});
}

TEST(LowerMoves, pad) {
  const Tensor x = random_floats({3, 5}, 1);
  check({"pad",
         {{"pads", sym({1, 2, 0, 3})}, {"mode", "constant"}},
         {x, {}, floats({}, {7})},
         {false, false, true}});
  check({"pad", {{"pads", sym({1, 2, 0, 3})}, {"mode", "edge"}}, {x}});
  check({"pad", {{"pads", sym({2, 2, 2, 3})}, {"mode", "reflect"}}, {x}});
  check({"pad", {{"pads", sym({-1, 0, 0, -2})}, {"mode", "constant"}}, {x}});
}

TEST(LowerMoves, gather) {
  const Tensor x = random_floats({4, 5, 6}, 1);
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    check({"gather", {{"axis", axis}}, {x, ints({2, 2}, {0, 3, -1, 1})}});
  }
  check({"gather",
         {{"axis", std::int64_t{0}}},
         {ints({3}, {10, 20, 30}), ints({}, {2})},
         {},
         {DataType::i64}});
}

TEST(LowerMoves, gather_names_the_node_when_an_index_is_out_of_range) {
  const NodeCase test{
      "gather", {{"axis", std::int64_t{0}}}, {random_floats({4, 5}, 1), ints({2}, {0, 4})}};
  try {
    run_node(test);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_NE(std::string(error.what()).find("tested"), std::string::npos);
  }
}

TEST(LowerMoves, gather_elements) {
  const Tensor x = random_floats({3, 4}, 1);
  check({"gather_elements",
         {{"axis", std::int64_t{0}}},
         {x, ints({2, 4}, {0, 1, 2, 0, -1, -2, 0, 1})}});
  check({"gather_elements", {{"axis", std::int64_t{1}}}, {x, ints({3, 2}, {0, 1, 2, 3, -1, -2})}});
}

TEST(LowerMoves, gather_nd) {
  const Tensor x = random_floats({3, 4, 5}, 1);
  check({"gather_nd", {{"batch_dims", std::int64_t{0}}}, {x, ints({2, 2}, {0, 1, -1, 3})}});
  check({"gather_nd", {{"batch_dims", std::int64_t{1}}}, {x, ints({3, 2, 1}, {0, 1, 2, 3, 0, 0})}});
  check({"gather_nd", {{"batch_dims", std::int64_t{0}}}, {x, ints({1, 3}, {2, 3, 4})}});
}

TEST(LowerMoves, constants) {
  check({"constant_of", {{"shape", sym({2, 3})}, {"value", floats({1}, {2.5F})}}, {{}}});
  check({"constant_of",
         {{"shape", sym({5})}, {"value", ints({1}, {-3})}},
         {{}},
         {},
         {DataType::i64}});
}

TEST(LowerMoves, range) {
  check({"range",
         {},
         {ints({}, {2}), ints({}, {11}), ints({}, {3})},
         {true, true, true},
         {DataType::i64}});
}

TEST(LowerMoves, trilu) {
  const Tensor x = random_floats({2, 4, 5}, 1);
  for (std::int64_t k : {-2, 0, 1, 9}) {
    check({"trilu", {{"upper", std::int64_t{1}}, {"k", k}}, {x}});
    check({"trilu", {{"upper", std::int64_t{0}}, {"k", k}}, {x}});
  }
}

TEST(LowerMoves, integers_are_checked_when_narrowed) {
  NodeCase test{"reshape",
                {{"shape", sym({2})}, {"allow_zero", std::int64_t{0}}},
                {ints({2}, {1, 1LL << 40})},
                {},
                {DataType::i64}};
  EXPECT_THROW(run_node(test), Error);
}

TEST(LowerMoves, refuses_constants_that_need_64_bits) {
  const NodeCase test{"binary",
                      {{"fn", "add"}},
                      {ints({1}, {1}), ints({1}, {1LL << 40})},
                      {false, true},
                      {DataType::i64}};
  EXPECT_NE(refusal(test).find("1099511627776"), std::string::npos);
}

TEST(LowerMoves, select) {
  const Tensor condition =
      Tensor::of<bool>({3, 1}, std::span<const bool>(std::array{true, false, true}));
  check({"select", {}, {condition, random_floats({3, 4}, 1), random_floats({4}, 2)}});
  check({"select", {}, {condition, random_floats({2, 3, 4}, 1), random_floats({}, 2)}});
}

TEST(LowerMoves, integer_functions) {
  const Tensor a = ints({6}, {-7, 7, 0, 3, -3, 5});
  const Tensor b = ints({6}, {3, -3, 4, 2, -2, 1});
  for (const char* fn : {"add", "sub", "mul", "div", "mod", "fmod", "max", "min"}) {
    check({"binary", {{"fn", fn}}, {a, b}, {}, {DataType::i64}});
  }
  for (const char* fn : {"equal", "greater", "greater_equal", "less", "less_equal"}) {
    check({"binary", {{"fn", fn}}, {a, b}, {}, {DataType::boolean}});
    check({"binary",
           {{"fn", fn}},
           {ints({2, 1, 3}, {1, 2, 3, 4, 5, 6}), ints({2, 1}, {2, 3})},
           {},
           {DataType::boolean}});
  }
  for (const char* fn : {"neg", "abs", "sign"}) {
    check({"unary", {{"fn", fn}, {"alpha", 0.0}, {"beta", 0.0}}, {a}, {}, {DataType::i64}});
  }
}

// The host does no arithmetic on floats: sums and products are checked on integers there.
TEST(LowerMoves, scatter_nd) {
  for (const char* reduction : {"none", "max", "min"}) {
    const graph::Attributes attrs{{"reduction", reduction}};
    check({"scatter_nd",
           attrs,
           {floats({4}, {1, 2, 3, 4}), ints({2, 1}, {3, -3}), floats({2}, {7, 0.5F})}});
  }
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    const graph::Attributes attrs{{"reduction", reduction}};
    check({"scatter_nd",
           attrs,
           {ints({3, 2}, {1, 2, 3, 4, 5, 6}), ints({2, 1}, {2, 0}), ints({2, 2}, {7, 5, 3, 2})},
           {},
           {DataType::i64}});
    check({"scatter_nd",
           attrs,
           {ints({2, 2}, {1, 2, 3, 4}), ints({1, 2}, {1, 0}), ints({1}, {9})},
           {},
           {DataType::i64}});
  }
}

TEST(LowerMoves, scatter_elements) {
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    for (std::int64_t axis = 0; axis < 2; ++axis) {
      const graph::Attributes attrs{{"axis", axis}, {"reduction", reduction}};
      check({"scatter_elements",
             attrs,
             {ints({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), ints({2, 2}, {0, 2, 1, -3}),
              ints({2, 2}, {5, 2, 3, 11})},
             {},
             {DataType::i64}});
    }
  }
}

TEST(LowerMoves, scatter_adds_floats) {
  const std::vector<Tensor> y =
      run_node({"scatter_nd",
                {{"reduction", "add"}},
                {floats({3}, {1, 2, 3}), ints({3, 1}, {1, 1, 2}), floats({3}, {0.25F, 0.5F, 4})}});
  EXPECT_TRUE(identical(y.at(0), floats({3}, {1, 2.75F, 7})));
}

TEST(LowerMoves, one_hot) {
  const Tensor indices = ints({2, 2}, {0, 2, -1, 7});
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    check({"one_hot",
           {{"axis", axis}},
           {indices, ints({}, {3}), floats({2}, {-1, 5})},
           {false, true}});
  }
}

TEST(LowerMoves, cum_sum) {
  const Tensor x = ints({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    for (std::int64_t mode = 0; mode < 4; ++mode) {
      check({"cum_sum",
             {{"axis", axis}, {"exclusive", mode & 1}, {"reverse", mode >> 1}},
             {x},
             {},
             {DataType::i64}});
    }
  }
}

TEST(LowerMoves, arg_reduce) {
  const Tensor x = ints({2, 3, 2}, {1, 9, 3, 4, 3, 6, 7, 8, 9, 0, 9, 0});
  for (const char* fn : {"argmax", "argmin"}) {
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      for (std::int64_t last = 0; last < 2; ++last) {
        check({"arg_reduce",
               {{"fn", fn}, {"axis", axis}, {"keepdims", std::int64_t{1}}, {"select_last", last}},
               {x},
               {},
               {DataType::i64}});
      }
    }
  }
}

TEST(LowerMoves, casts) {
  const Tensor x = floats({5}, {-1.7F, 0.0F, 2.9F, 100.0F, -0.5F});
  const auto to = [](DataType dtype) {
    return graph::Attributes{{"to", dtype}, {"saturate", std::int64_t{1}}};
  };
  check({"cast", to(DataType::i64), {x}, {}, {DataType::i64}});
  check({"cast", to(DataType::boolean), {x}, {}, {DataType::boolean}});
  check({"cast", to(DataType::f32), {ints({3}, {-5, 0, 70000})}, {}, {DataType::f32}});
  check({"cast", to(DataType::boolean), {ints({3}, {-5, 0, 2})}, {}, {DataType::boolean}});
  check({"cast", to(DataType::i32), {ints({3}, {-5, 0, 2})}, {}, {DataType::i32}});
  check({"cast", to(DataType::f16), {x}, {}, {DataType::f16}});
}

}  // namespace
}  // namespace concord::gpu
