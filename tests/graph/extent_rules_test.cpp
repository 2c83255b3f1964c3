#include "graph/extent_rules.h"

#include <gtest/gtest.h>

#include "graph/error.h"
#include "graph/shape_ties.h"
#include "tests/graph/builder.h"

namespace concord::graph {
namespace {

struct Operands {
  OpKind op;
  Attributes attrs;
  std::vector<SymShape> shapes;  // no extent at all: an operand that is omitted
  std::size_t integers = 99;     // the operand that holds integers
  std::size_t outputs = 1;
};

const SymShape kOmitted = {Dim(-1)};

void add(Builder& b, const Operands& o) {
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < o.shapes.size(); ++i) {
    const DataType type = i == o.integers ? DataType::i64 : DataType::f32;
    inputs.push_back(o.shapes[i] == kOmitted ? ValueId{}
                                             : b.input("x" + std::to_string(i), type, o.shapes[i]));
  }
  b.ops(o.op, inputs, o.attrs, o.outputs);
}

Attributes recurrent() {
  return {{"hidden_size", std::int64_t{5}},
          {"direction", std::string("forward")},
          {"activations", std::string("Sigmoid,Tanh,Tanh")},
          {"layout", std::int64_t{0}},
          {"clip", 0.0},
          {"input_forget", std::int64_t{0}},
          {"linear_before_reset", std::int64_t{0}}};
}

Attributes attention() {
  Attributes attrs;
  for (const char* name : {"q_layout", "k_layout", "v_layout", "y_layout"}) {
    attrs.set(name, std::string("bhsd"));
  }
  return attrs;
}

// Each fits; what is changed about it does not.
struct Change {
  const char* name;
  Operands good;
  std::size_t operand;
  SymShape bad;
};

std::vector<Change> changes() {
  const Attributes axis1 = {{"axis", std::int64_t{1}}, {"reduction", std::string("none")}};
  const Attributes none = {{"reduction", std::string("none")}};
  const Attributes eq = {{"equation", std::string("bij,bjk->bik")}};
  const Operands scatter_nd{OpKind::scatter_nd, none, {{4, 3}, {2, 1}, {2, 3}}, 1};
  const Operands elements{OpKind::scatter_elements, axis1, {{4, 3}, {2, 5}, {2, 5}}, 1};
  const Operands gather{OpKind::gather_elements, axis1, {{4, 3}, {2, 5}}, 1};
  const Operands einsum{OpKind::einsum, eq, {{2, 3, 4}, {2, 4, 5}}};
  const Operands norm{
      OpKind::layer_norm, {{"axis", std::int64_t{1}}, {"epsilon", 1e-5}}, {{4, 3}, {3}, {3}}};
  const Operands lstm{
      OpKind::lstm,
      recurrent(),
      {{7, 2, 3}, {1, 20, 3}, {1, 20, 5}, {1, 40}, {2}, {1, 2, 5}, {1, 2, 5}, {1, 15}},
      4,
      3};
  const Operands gru{OpKind::gru, recurrent(), {{7, 2, 3}, {1, 15, 3}, {1, 15, 5}, {1, 30}}, 99, 2};
  const Operands rnn{OpKind::rnn, recurrent(), {{7, 2, 3}, {1, 5, 3}, {1, 5, 5}, {1, 10}}, 99, 2};
  const Operands attend{
      OpKind::attention, attention(), {{2, 4, 3, 8}, {2, 2, 6, 8}, {2, 2, 6, 9}, {2, 1, 3, 6}}};
  const Operands rotary{OpKind::rotary,
                        {{"layout", std::string("bhsd")},
                         {"rotary_dim", std::int64_t{0}},
                         {"interleaved", std::int64_t{0}}},
                        {{2, 4, 3, 8}, {2, 3, 4}, {2, 3, 4}}};
  return {
      {"tuples too wide", scatter_nd, 1, {2, 3}},
      {"too few updates", scatter_nd, 2, {1, 3}},
      {"updates too narrow", scatter_nd, 2, {2, 2}},
      {"updates of another rank", scatter_nd, 2, {2, 3, 1}},
      {"indices beyond the data", elements, 1, {5, 5}},
      {"updates beside the indices", elements, 2, {2, 4}},
      {"indices beyond the data gathered", gather, 1, {5, 5}},
      {"contracted axis", einsum, 1, {2, 3, 5}},
      {"batch axis", einsum, 1, {3, 4, 5}},
      {"gamma too long", norm, 1, {4}},
      {"beta of too many axes", norm, 2, {1, 4, 3}},
      {"w of another input", lstm, 1, {1, 20, 4}},
      {"w of more gates", lstm, 1, {1, 25, 3}},
      {"w of two directions", lstm, 1, {2, 20, 3}},
      {"r of another width", lstm, 2, {1, 20, 4}},
      {"b of half the gates", lstm, 3, {1, 20}},
      {"lengths of another batch", lstm, 4, {3}},
      {"state of another batch", lstm, 5, {1, 3, 5}},
      {"cell of another width", lstm, 6, {1, 2, 4}},
      {"peepholes of four gates", lstm, 7, {1, 20}},
      {"gru's r", gru, 2, {1, 15, 4}},
      {"gru's b", gru, 3, {1, 15}},
      {"rnn's w", rnn, 1, {1, 5, 2}},
      {"depth of k", attend, 1, {2, 2, 6, 7}},
      {"heads of v", attend, 2, {2, 4, 6, 9}},
      {"length of v", attend, 2, {2, 2, 5, 9}},
      {"batch of v", attend, 2, {3, 2, 6, 9}},
      {"keys of the mask", attend, 3, {2, 1, 3, 5}},
      {"sines beside cosines", rotary, 2, {2, 3, 3}},
      {"tables too narrow", rotary, 0, {2, 4, 3, 10}},
      {"tables too short", rotary, 0, {2, 4, 5, 8}},
      {"heads of the mask", attend, 3, {2, 3, 3, 6}},
  };
}

TEST(ExtentRules, RefuseOperandsThatDisagree) {
  for (const Change& change : changes()) {
    SCOPED_TRACE(change.name);
    Builder good;
    EXPECT_NO_THROW(add(good, change.good));
    Operands operands = change.good;
    operands.shapes[change.operand] = change.bad;
    Builder bad;
    try {
      add(bad, operands);
      ADD_FAILURE() << "taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid);
      EXPECT_NE(std::string(error.what()).find("node 'n0'"), std::string::npos) << error.what();
    }
  }
}

// Each bad extent behind a symbol: taken when the model is read, told of when it is bound.
TEST(ExtentRules, ContradictSymbolsThatAreBound) {
  int told = 0;
  for (const Change& change : changes()) {
    SCOPED_TRACE(change.name);
    const SymShape& good = change.good.shapes[change.operand];
    if (good.size() != change.bad.size()) continue;
    Operands operands = change.good;
    Bindings bad;
    Bindings fits;
    for (std::size_t d = 0; d < good.size(); ++d) {
      if (good[d] == change.bad[d] || change.operand == 1) continue;
      const std::string symbol = "s" + std::to_string(d);
      operands.shapes[change.operand][d] = Dim::symbol(symbol);
      bad[symbol] = *change.bad[d].constant();
      fits[symbol] = *good[d].constant();
    }
    if (bad.empty()) continue;
    Builder b;
    add(b, operands);
    const std::vector<ShapeTie> ties = shape_ties(b.graph);
    EXPECT_FALSE(contradiction(ties, fits)) << *contradiction(ties, fits);
    EXPECT_TRUE(contradiction(ties, bad));
    ++told;
  }
  EXPECT_GE(told, 10);
}

TEST(ExtentRules, RangesDoNotWrap) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  Builder b;
  EXPECT_THROW(b.range(b.integer(least), b.integer(most), b.integer(1)), Error);
  EXPECT_EQ(b.text(b.range(b.integer(least), b.integer(most), b.integer(most))), "[3]");
  EXPECT_EQ(b.text(b.range(b.integer(most), b.integer(least), b.integer(1))), "[0]");
  EXPECT_EQ(b.text(b.range(b.integer(5), b.integer(-2), b.integer(-3))), "[3]");
}

}  // namespace
}  // namespace concord::graph
