// What plans do with memory: views, in-place results, outputs.

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "backends/cpu/cpu_backend.h"
#include "graph/error.h"
#include "tests/cpu_backend/small_graph.h"

namespace concord::cpu {
namespace {

using graph::OpKind;
using graph::ValueId;

std::unique_ptr<Program> compile(const SmallGraph& graph, const CompileOptions& options = {}) {
  return CpuBackend().compile(graph.get(), options);
}

std::vector<std::string> kernels(const Plan& plan) {
  std::vector<std::string> names;
  for (const StepInfo& step : plan.steps()) names.push_back(step.kernel);
  return names;
}

TEST(Plan, ElementwiseChainsRunInPlace) {
  SmallGraph g;
  ValueId x = g.input("x", DataType::f32, {Dim(1000)});
  for (int i = 0; i < 10; ++i) x = g.unary(x, "tanh");
  x = g.unary(x, "neg");
  g.output(x);
  const auto program = compile(g);
  EXPECT_LE(program->plan({})->memory().activations, 4096);
  const Tensor in = random_tensor({1000}, 1);
  const Tensor out = run_once(*program, {}, {in})[0];
  float expected = in.as<float>()[7];
  for (int i = 0; i < 10; ++i) expected = std::tanh(expected);
  EXPECT_NEAR(out.as<float>()[7], -expected, 1e-6);
}

TEST(Plan, AValueThatIsReadLaterIsNotOverwritten) {
  SmallGraph g;
  const ValueId x = g.input("x", DataType::f32, {Dim(100)});
  const ValueId a = g.unary(x, "exp");
  const ValueId b = g.unary(a, "neg");
  const ValueId view = g.reshape(a, {Dim(10), Dim(10)});
  const ValueId c = g.unary(b, "exp");
  const ValueId flat = g.reshape(view, {Dim(100)});
  g.output(g.binary(c, flat, "add"));
  const auto program = compile(g);
  const Tensor in = random_tensor({100}, 2);
  const Tensor out = run_once(*program, {}, {in})[0];
  for (std::size_t i = 0; i < 100; ++i) {
    const float a_i = std::exp(in.as<float>()[i]);
    EXPECT_NEAR(out.as<float>()[i], std::exp(-a_i) + a_i, 1e-5);
  }
}

TEST(Plan, TransposesBeforeAProductAreViews) {
  SmallGraph g;
  const ValueId x = g.input("x", DataType::f32, {Dim(2), Dim(5), Dim(3), Dim(8)});
  const ValueId y = g.input("y", DataType::f32, {Dim(2), Dim(6), Dim(3), Dim(8)});
  const ValueId q = g.transpose(x, {0, 2, 1, 3});
  const ValueId k = g.transpose(y, {0, 2, 3, 1});
  g.output(g.matmul(q, k));
  const auto program = compile(g);
  EXPECT_EQ(kernels(*program->plan({})),
            (std::vector<std::string>{"view", "view", "matmul batched"}));
}

TEST(Plan, ProductsOfOneValueAreOne) {
  const auto heads = [](bool grouped, std::vector<Tensor>& outputs) {
    SmallGraph g;
    const Dim seq = Dim::symbol("seq");
    const ValueId x = g.input("x", DataType::f32, {Dim(2), seq, Dim(32)});
    ValueId parts[3];
    for (ValueId& part : parts) {
      part = g.matmul(x, g.weight({32, 48}, 0.5f));
      if (!grouped) g.output(part);
      part = g.transpose(g.reshape(part, {Dim(2), seq, Dim(3), Dim(16)}), {0, 2, 1, 3});
    }
    g.output(g.matmul(
        g.node(OpKind::matmul, {parts[0], parts[1]},
               {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{1}}, {"alpha", 1.0}}),
        parts[2]));
    const auto program = compile(g);
    outputs = run_once(*program, {{"seq", 5}}, {random_tensor({2, 5, 32}, 7)});
    return kernels(*program->plan({{"seq", 5}}));
  };
  std::vector<Tensor> one, apart;
  const std::vector<std::string> steps = heads(true, one);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "matmul packed"), 1);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "with its group"), 2);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "copy"), 0);
  heads(false, apart);
  EXPECT_TRUE(identical(one[0], apart[3]));
}

TEST(Plan, AnOutputIsWrittenWhereItsReshapeLies) {
  SmallGraph g;
  const ValueId x = g.input("x", DataType::f32, {Dim(2), Dim(6)});
  const ValueId h = g.matmul(x, g.weight({6, 12}));
  g.output(g.reshape(h, {Dim(2), Dim(3), Dim(4)}));
  const auto program = compile(g);
  EXPECT_EQ(kernels(*program->plan({})), (std::vector<std::string>{"matmul packed", "view"}));
  EXPECT_EQ(program->plan({})->memory().activations, 0);
}

TEST(Plan, OutputsThatAreInputsConstantsOrTwice) {
  SmallGraph g;
  const ValueId x = g.input("x", DataType::f32, {Dim(4)});
  const ValueId w = g.weight({3});
  const ValueId y = g.unary(x, "neg");
  for (ValueId out : {x, w, y, y}) g.output(out);
  const auto program = compile(g);
  const Tensor in = random_tensor({4}, 3);
  const std::vector<Tensor> out = run_once(*program, {}, {in});
  EXPECT_TRUE(identical(out[0], in));
  EXPECT_NE(out[0].data(), in.data());
  EXPECT_TRUE(identical(out[1], *g.get()->value(w).constant));
  EXPECT_TRUE(identical(out[2], out[3]));
  EXPECT_NE(out[2].data(), out[3].data());
}

TEST(Plan, NothingButAnInput) {
  SmallGraph g;
  g.output(g.input("x", DataType::i64, {Dim(4)}));
  const auto program = compile(g);
  const Tensor in = Tensor::from_ints(std::vector<std::int64_t>{1, 2, 3, 4});
  EXPECT_TRUE(identical(run_once(*program, {}, {in})[0], in));
}

TEST(Plan, ViewsOfViewsAsOutputs) {
  SmallGraph g;
  const ValueId x = g.input("x", DataType::f32, {Dim(4), Dim(6)});
  const ValueId t = g.transpose(x, {1, 0});
  const ValueId r = g.reshape(t, {Dim(3), Dim(8)});
  g.output(t);
  g.output(r);
  const auto program = compile(g);
  const Tensor in = random_tensor({4, 6}, 4);
  const std::vector<Tensor> out = run_once(*program, {}, {in});
  for (std::int64_t i = 0; i < 24; ++i) {
    EXPECT_EQ(out[0].at_double(i), in.at_double(i % 4 * 6 + i / 4));
    EXPECT_EQ(out[1].at_double(i), out[0].at_double(i));
  }
}

class AllTaps : public TapSink {
 public:
  bool wants(ValueId) const override { return true; }
  void take(ValueId id, Tensor tensor) override { tensors.insert_or_assign(id, std::move(tensor)); }
  std::map<ValueId, Tensor> tensors;
};

TEST(Plan, TapsAreOfferedOnceAStepHasRun) {
  SmallGraph g;
  const ValueId x = g.input("x", DataType::f32, {Dim(8)});
  const ValueId a = g.unary(x, "exp");
  const ValueId b = g.unary(a, "neg");  // overwrites a
  const ValueId t = g.transpose(g.reshape(b, {Dim(2), Dim(4)}), {1, 0});
  g.output(g.unary(t, "exp"));
  const auto program = compile(g);
  const Tensor in = random_tensor({8}, 5);
  AllTaps taps;
  run_once(*program, {}, {in}, &taps);
  for (std::int64_t i = 0; i < 8; ++i) {
    const double a_i = std::exp(in.at_double(i));
    EXPECT_NEAR(taps.tensors.at(a).at_double(i), a_i, 1e-5);
    EXPECT_NEAR(taps.tensors.at(b).at_double(i), -a_i, 1e-5);
    EXPECT_EQ(taps.tensors.at(t).at_double(i), taps.tensors.at(b).at_double(i % 2 * 4 + i / 2));
  }
}

TEST(Plan, ImagesStayChannelsLastBetweenConvolutions) {
  SmallGraph g;
  const auto conv = [&](ValueId x, std::int64_t from, std::int64_t to) {
    return g.node(OpKind::conv, {x, g.weight({to, from, 3, 3})},
                  {{"strides", std::vector<std::int64_t>{1, 1}},
                   {"pads", std::vector<std::int64_t>{1, 1, 1, 1}},
                   {"dilations", std::vector<std::int64_t>{1, 1}},
                   {"group", std::int64_t{1}},
                   {"auto_pad", std::string("notset")}});
  };
  const ValueId x = g.input("x", DataType::f32, {Dim(1), Dim(3), Dim(8), Dim(8)});
  const ValueId a = conv(x, 3, 16);
  const ValueId b = conv(g.unary(a, "relu"), 16, 16);
  g.output(conv(g.binary(a, b, "add"), 16, 4));
  const auto program = compile(g);
  const Tensor in = random_tensor({1, 3, 8, 8}, 6);

  const Tensor out = run_once(*program, {}, {in})[0];
  AllTaps taps;
  EXPECT_TRUE(identical(run_once(*program, {}, {in}, &taps)[0], out));
  for (std::int64_t i = 0; i < 16 * 64; ++i) {
    const double sum = taps.tensors.at(a).at_double(i) + taps.tensors.at(b).at_double(i);
    const ValueId added = g.get()->node(g.get()->order()[3]).outputs[0];
    EXPECT_NEAR(taps.tensors.at(added).at_double(i), sum, 1e-5);
  }
}

TEST(Plan, ABadIndexIsAnErrorThatNamesTheNode) {
  SmallGraph g;
  const ValueId ids = g.input("ids", DataType::i64, {Dim(2)});
  g.output(g.node(OpKind::gather, {g.weight({5, 3}), ids}, {{"axis", std::int64_t{0}}}));
  const auto program = compile(g);
  try {
    run_once(*program, {}, {Tensor::from_ints(std::vector<std::int64_t>{1, 7})});
    FAIL() << "an index of 7 in a table of 5 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_NE(std::string(error.what()).find("n0"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find('7'), std::string::npos) << error.what();
  }
}

TEST(Plan, RefusesInputsOfOtherExtents) {
  SmallGraph g;
  g.output(g.unary(g.input("x", DataType::f32, {Dim::symbol("n")}), "exp"));
  const auto program = compile(g);
  EXPECT_THROW(run_once(*program, {{"n", 4}}, {random_tensor({5}, 1)}), Error);
  EXPECT_THROW(run_once(*program, {}, {random_tensor({5}, 1)}), Error);
  EXPECT_THROW(run_once(*program, {{"n", 4}}, {}), Error);
}

}  // namespace
}  // namespace concord::cpu
