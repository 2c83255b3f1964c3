// States of hand-made graphs: which are kept in place, how they start, and what is refused.
#include <algorithm>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "backends/session.h"
#include "graph/error.h"
#include "tests/backends/models.h"
#include "tests/graph/builder.h"

namespace concord {
namespace {

using graph::Builder;
using graph::Graph;
using graph::OpKind;
using graph::ValueId;
using Inputs = std::map<std::string, Tensor>;

bool says(const Session& session, const std::string& words) {
  return session.describe().find(words) != std::string::npos;
}

struct Made {
  std::shared_ptr<Graph> graph;
  bool in_place = false;
  std::string reason;
};

// Runs both ways over some lengths of x, on every backend that is always there.
void expect_same(const Made& made, const Tensor& start) {
  const auto output = [&](const char* name) {
    const auto found = std::ranges::find_if(
        made.graph->outputs, [&](ValueId id) { return made.graph->value(id).name == name; });
    return static_cast<std::size_t>(found - made.graph->outputs.begin());
  };
  for (const char* spec : {"cpu", "reference"}) {
    Session plain(made.graph, spec);
    Session bound(made.graph, spec);
    bound.bind_state("present", "past");
    if (std::string(spec) == "cpu") {
      EXPECT_EQ(says(bound, "kept in place"), made.in_place) << bound.describe();
      EXPECT_TRUE(says(bound, made.reason)) << bound.describe();
    }
    Tensor past = start;
    for (std::int64_t i = 0; i < 40; ++i) {
      const Tensor x = Builder::random({2, 3, i % 4, 8}, static_cast<std::uint64_t>(i + 1));
      std::vector<Tensor> wanted = plain.run({{"past", past}, {"x", x}});
      const std::vector<Tensor> got = bound.run({{"x", x}});
      past = wanted[output("present")];
      ASSERT_TRUE(identical(bound.state("past"), past)) << spec << " " << i;
      ASSERT_TRUE(identical(got[output("y")], wanted[output("y")])) << spec << " " << i;
    }
  }
}

// past [2, 3, p, 8], x [2, 3, n, 8].
struct Parts {
  Builder b;
  ValueId past = b.input("past", DataType::f32, {2, 3, Dim::symbol("p"), 8});
  ValueId x = b.input("x", DataType::f32, {2, 3, Dim::symbol("n"), 8});

  ValueId concat(std::vector<ValueId> inputs) {
    return b.op(OpKind::concat, std::move(inputs), {{"axis", std::int64_t{2}}});
  }
  ValueId attention(ValueId q, ValueId k, ValueId v) {
    graph::Attributes attrs = {{"scale", 0.5},
                               {"softcap", 0.0},
                               {"causal", std::string("none")},
                               {"window", std::int64_t{-1}},
                               {"nan_to_zero", std::int64_t{1}}};
    for (const char* name : {"q_layout", "k_layout", "v_layout", "y_layout"}) {
      attrs.set(name, std::string("bhsd"));
    }
    return b.op(OpKind::attention, {q, k, v}, attrs);
  }
  Made made(bool in_place, const std::string& reason) {
    return {std::make_shared<Graph>(b.graph), in_place, reason};
  }
};

const Tensor kNothing = Tensor::zeros(DataType::f32, {2, 3, 0, 8});

TEST(StateRules, AttentionReadsThemWhereTheyLie) {
  Parts p;
  const ValueId present = p.concat({p.past, p.x});
  p.b.output(p.attention(p.x, present, present), "y");
  p.b.output(present, "present");
  expect_same(p.made(true, "kept in place"), kNothing);
}

// As GroupQueryAttention does: rows are written at given positions of a cache that is as long as
// the mask at least.
TEST(StateRules, RowsAreWrittenAtPositions) {
  Parts p;
  const Dim length = Dim::symbol("p");
  const ValueId at = p.b.input("at", DataType::i64, {2, 3, Dim::symbol("n"), 8});
  const ValueId mask = p.b.input("mask", DataType::f32, {Dim::symbol("t")});
  SymShape pads(8, Dim(0));
  pads[6] = Dim::max(length, Dim::symbol("t")) - length;
  const ValueId padded =
      p.b.op(OpKind::pad, {p.past}, {{"pads", pads}, {"mode", std::string("constant")}});
  const ValueId present = p.b.op(OpKind::scatter_elements, {padded, at, p.x},
                                 {{"axis", std::int64_t{2}}, {"reduction", std::string("none")}});
  p.b.output(present, "present");
  p.b.output(p.attention(p.x, present, present), "y");
  p.b.output(p.b.unary("exp", mask), "z");
  const auto graph = std::make_shared<Graph>(p.b.graph);
  Session plain(graph, "cpu");
  Session bound(graph, "cpu");
  bound.bind_state("present", "past");
  EXPECT_TRUE(says(bound, "kept in place")) << bound.describe();
  Tensor past = kNothing;
  const auto write = [&](std::int64_t first, std::int64_t rows, std::int64_t total) {
    Tensor positions(DataType::i64, {2, 3, rows, 8});
    for (std::int64_t i = 0; i < positions.count(); ++i) {
      positions.as_mutable<std::int64_t>()[static_cast<std::size_t>(i)] = first + i / 8 % rows;
    }
    const Inputs inputs = {
        {"at", positions},
        {"mask", Tensor::zeros(DataType::f32, {total})},
        {"x", Builder::random({2, 3, rows, 8}, static_cast<std::uint64_t>(total + first + 2))}};
    Inputs with_past = inputs;
    with_past["past"] = past;
    std::vector<Tensor> wanted = plain.run(with_past);
    const std::vector<Tensor> got = bound.run(inputs);
    past = wanted[0];
    ASSERT_TRUE(identical(bound.state("past"), past)) << total;
    ASSERT_TRUE(identical(got[1], wanted[1])) << total;
  };
  write(0, 5, 5);
  for (std::int64_t total = 6; total < 100; ++total) write(total - 1, 1, total);
  write(3, 4, 7);     // what is there already
  write(-2, 2, 103);  // counted from the end, over positions that are left out
  EXPECT_THROW(write(103, 1, 103), Error);
}

TEST(StateRules, SeveralPiecesAreAppended) {
  Parts p;
  const ValueId present = p.concat({p.past, p.x, p.b.unary("exp", p.x)});
  p.b.output(present, "present");
  p.b.output(p.attention(p.x, present, present), "y");
  expect_same(p.made(true, "kept in place"), kNothing);
}

TEST(StateRules, OtherReadersGetDenseMemory) {
  Parts p;
  const ValueId present = p.concat({p.past, p.x});
  p.b.output(present, "present");
  p.b.output(p.b.unary("exp", present), "y");
  expect_same(p.made(false, "reads the output as dense memory"), kNothing);
}

TEST(StateRules, WhatIsNewStandsFirst) {
  Parts p;
  const ValueId present = p.concat({p.x, p.past});
  p.b.output(present, "present");
  p.b.output(p.attention(p.x, present, present), "y");
  expect_same(p.made(false, "the output is not the input with something appended"), kNothing);
}

TEST(StateRules, TheInputIsReadTwice) {
  Parts p;
  const ValueId present = p.concat({p.past, p.x});
  p.b.output(present, "present");
  p.b.output(p.b.unary("exp", p.past), "y");
  expect_same(p.made(false, "the input is read by more"), kNothing);
}

TEST(StateRules, TwoOutputsAreTheSame) {
  Parts p;
  const ValueId present = p.concat({p.past, p.x});
  p.b.output(present, "present");
  p.b.output(p.attention(p.x, present, present), "y");
  p.b.graph.outputs.push_back(present);
  expect_same(p.made(false, "two outputs are the same"), kNothing);
}

// Many threads: the runs take turns, so that as many positions are there as were appended.
TEST(StateRules, RunsTakeTurns) {
  Builder b;
  const ValueId past = b.input("past", DataType::f32, {Dim::symbol("p"), 4});
  const ValueId x = b.input("x", DataType::f32, {1, 4});
  b.output(b.op(OpKind::concat, {past, x}, {{"axis", std::int64_t{0}}}), "present");
  Session session(std::make_shared<Graph>(b.graph), "cpu");
  session.bind_state("present", "past");
  EXPECT_TRUE(says(session, "kept in place"));
  constexpr int threads_count = 4;
  constexpr int runs = 40;
  std::vector<std::thread> threads;
  for (int t = 0; t < threads_count; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<float> row(4, static_cast<float>(t + 1));
      for (int i = 0; i < runs; ++i)
        session.run({{"x", Tensor::of<float>({1, 4}, std::span<const float>(row))}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Tensor all = session.state("past");
  ASSERT_EQ(all.shape(), (Shape{threads_count * runs, 4}));
  std::map<float, int> rows;
  for (std::size_t i = 0; i < all.as<float>().size(); i += 4) ++rows[all.as<float>()[i]];
  for (int t = 0; t < threads_count; ++t) EXPECT_EQ(rows[static_cast<float>(t + 1)], runs);
}

// A state of fixed extents, as a recurrent cell's, starts as zeros.
TEST(StateRules, FixedExtentsStartAsZeros) {
  Builder b;
  const ValueId past = b.input("h0", DataType::f32, {Dim::symbol("batch"), 4});
  const ValueId x = b.input("x", DataType::f32, {Dim::symbol("batch"), 4});
  b.output(b.add(past, x), "h");
  Session session(std::make_shared<Graph>(b.graph), "cpu");
  session.bind_state("h", "h0");
  const Tensor ones = Tensor::of<float>({1, 4}, std::vector<float>{1, 1, 1, 1});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(session.run({{"x", ones}})[0].defined());
  EXPECT_EQ(session.state("h0").as<float>()[0], 3.0F);
  session.reset_states();
  EXPECT_FALSE(session.state("h0").defined());
  session.run({{"x", ones}});
  EXPECT_EQ(session.state("h0").as<float>()[3], 1.0F);
}

// --- what is refused

void expect_usage(const std::function<void()>& act, const std::string& words,
                  const std::string& hint) {
  try {
    act();
    ADD_FAILURE() << "taken, though " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    EXPECT_NE(error.hint().find(hint), std::string::npos) << error.hint();
  }
}

TEST(StateRules, WrongPairsAreRefused) {
  const auto model = importer::load(tests::bundled("llama_past__dynamo20"));
  Session session(model.graph, "cpu");
  const std::string past = "past_key_values.0.key";
  const auto refuse = [&](const std::string& output, const std::string& input,
                          const std::string& words, const std::string& hint) {
    expect_usage([&] { session.bind_state(output, input); }, words, hint);
  };
  refuse("present.9.key", past, "no output 'present.9.key'", "present.0.key");
  refuse("present.0.key", "past", "no input 'past'", "past_key_values.0.key");
  refuse("present.0.key", "input_ids", "their types differ", "bind an output to");
  refuse("logits", past, "their ranks differ", "bind an output to");
  session.bind_state("present.0.key", past);
  refuse("present.0.value", past, "is a state already", "once");
  refuse("present.0.key", "past_key_values.0.value", "is bound to a state already", "once");
  expect_usage([&] { session.set_state("past_key_values.1.key", Tensor()); }, "is no state", past);
  expect_usage(
      [&] {
        session.set_state(past, Tensor::zeros(DataType::f16, {1, 2, 0, 16}));
      },
      "is float16", "float32");
  expect_usage(
      [&] {
        session.set_state(past, Tensor::zeros(DataType::f32, {1, 3, 0, 16}));
      },
      "dimension 1", past);
  expect_usage([&] { static_cast<void>(session.state("x")); }, "is no state", past);
}

TEST(StateRules, ExtentsThatNeverFitAreRefused) {
  Builder b;
  const ValueId past = b.input("past", DataType::f32, {2, 4});
  b.output(b.op(OpKind::concat, {past, past}, {{"axis", std::int64_t{0}}}), "present");
  Session session(std::make_shared<Graph>(b.graph), "cpu");
  expect_usage([&] { session.bind_state("present", "past"); }, "their extents differ on axis 0",
               "bind an output to");
}

TEST(StateRules, StatesComeBeforeRunsAndAreNotGiven) {
  Parts p;
  p.b.output(p.concat({p.past, p.x}), "present");
  const auto graph = std::make_shared<Graph>(p.b.graph);
  const Tensor x = Builder::random({2, 3, 1, 8});
  Session late(graph, "cpu");
  late.run({{"past", kNothing}, {"x", x}});
  expect_usage([&] { late.bind_state("present", "past"); }, "comes too late", "before");
  Session bound(graph, "cpu");
  bound.bind_state("present", "past");
  expect_usage([&] { bound.run({{"past", kNothing}, {"x", x}}); }, "is a state", "set_state");
  expect_usage([&] { bound.run(Inputs{}); }, "'x' is missing", "past: float32");
  bound.run({{"x", x}});
  expect_usage([&] { bound.bind_state("present", "past"); }, "comes too late", "before");
}

// An extent that no other input has, but that the model needs to be that of a constant.
TEST(StateRules, ExtentsFollowFromWhatTheModelNeeds) {
  Builder b;
  const ValueId past = b.input("past", DataType::f32, {Dim::symbol("p"), Dim::symbol("width")});
  b.output(b.op(OpKind::concat, {past, b.weights({1, 3})}, {{"axis", std::int64_t{0}}}), "present");
  Session session(std::make_shared<Graph>(b.graph), "cpu");
  session.bind_state("present", "past");
  session.run(Inputs{});
  session.run(Inputs{});
  EXPECT_EQ(session.state("past").shape(), (Shape{2, 3}));
}

TEST(StateRules, ExtentsThatNothingTellsAreAskedFor) {
  Builder b;
  const ValueId past = b.input("past", DataType::f32, {Dim::symbol("width")});
  b.output(b.unary("exp", past), "present");
  Session session(std::make_shared<Graph>(b.graph), "cpu");
  session.bind_state("present", "past");
  expect_usage([&] { session.run(Inputs{}); }, "extent 'width'", "set_state");
  session.set_state("past", Tensor::zeros(DataType::f32, {3}));
  session.run(Inputs{});
  EXPECT_EQ(session.state("past").as<float>()[2], 1.0F);
}

}  // namespace
}  // namespace concord
