// Programs: weights packed once, plans cached and bounded, runs of many threads.

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "backends/cpu/cpu_backend.h"
#include "graph/error.h"
#include "tests/cpu_backend/small_graph.h"

namespace concord::cpu {
namespace {

using graph::ValueId;

SmallGraph perceptron() {
  SmallGraph g;
  ValueId x = g.input("x", DataType::f32, {Dim::symbol("rows"), Dim(64)});
  x = g.unary(g.matmul(x, g.weight({64, 96})), "tanh");
  x = g.unary(g.matmul(x, g.weight({96, 32})), "tanh");
  g.output(x);
  return g;
}

TEST(Program, PlansAreCachedByExtentsAndBounded) {
  CompileOptions options;
  options.max_plans = 2;
  const auto program = CpuBackend().compile(perceptron().get(), options);
  const auto a = program->plan({{"rows", 1}});
  EXPECT_EQ(program->plan({{"rows", 1}, {"unused", 9}}), a);
  program->plan({{"rows", 2}});
  EXPECT_EQ(program->plan({{"rows", 1}}), a);
  program->plan({{"rows", 3}});  // 2 goes, used longest ago
  EXPECT_EQ(program->plan({{"rows", 1}}), a);
  program->plan({{"rows", 2}});
  EXPECT_NE(program->plan({{"rows", 3}}), nullptr);
  EXPECT_EQ(a->memory().weights, program->plan({{"rows", 7}})->memory().weights);
}

TEST(Program, APlanOutlivesItsProgram) {
  auto program = CpuBackend().compile(perceptron().get(), {});
  const auto plan = program->plan({{"rows", 5}});
  const std::vector<Tensor> inputs{random_tensor({5, 64}, 1)};
  std::vector<Tensor> before, after;
  plan->run({.inputs = inputs, .outputs = &before});
  program.reset();
  plan->run({.inputs = inputs, .outputs = &after});
  EXPECT_TRUE(identical(before[0], after[0]));
}

TEST(Program, TiedWeightsArePackedOnce) {
  const auto weights_of = [](bool tied) {
    SmallGraph g;
    const ValueId x = g.input("x", DataType::f32, {Dim(4), Dim(64)});
    const ValueId w = g.weight({64, 64});
    const ValueId v = tied ? w : g.weight({64, 64});
    g.output(g.matmul(g.matmul(x, w), v));
    return CpuBackend().compile(g.get(), {})->plan({})->memory().weights;
  };
  EXPECT_EQ(weights_of(true) * 2, weights_of(false));
}

TEST(Program, ManyThreadsGetTheSameBits) {
  const auto program = CpuBackend().compile(perceptron().get(), {});
  std::vector<std::vector<Tensor>> inputs;
  std::vector<Tensor> expected;
  for (std::int64_t rows = 1; rows <= 6; ++rows) {
    inputs.push_back({random_tensor({rows, 64}, static_cast<unsigned>(rows))});
    expected.push_back(run_once(*program, {{"rows", rows}}, inputs.back())[0]);
  }
  std::vector<int> wrong(16, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 40; ++i) {
        const std::size_t which = (i + t) % inputs.size();
        const auto rows = static_cast<std::int64_t>(which + 1);
        const Tensor out = run_once(*program, {{"rows", rows}}, inputs[which])[0];
        if (!identical(out, expected[which])) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int count : wrong) EXPECT_EQ(count, 0);
}

TEST(Program, ThreadCountsGiveTheSameBits) {
  const std::vector<Tensor> inputs{random_tensor({300, 64}, 1)};
  std::vector<Tensor> results;
  for (int threads : {1, 2}) {
    CompileOptions options;
    options.threads = threads;
    const auto program = CpuBackend().compile(perceptron().get(), options);
    results.push_back(run_once(*program, {{"rows", 300}}, inputs)[0]);
  }
  EXPECT_TRUE(identical(results[0], results[1]));
}

TEST(Program, RecordsThePrecisionThatWasUsed) {
  for (const auto& [precision, operand] :
       {std::pair{Precision::model, DataType::f32}, std::pair{Precision::bf16, DataType::bf16}}) {
    CompileOptions options;
    options.precision = precision;
    const auto program = CpuBackend().compile(perceptron().get(), options);
    const auto plan = program->plan({{"rows", 3}});
    for (const StepInfo& step : plan->steps()) {
      const bool product = step.kernel.starts_with("matmul");
      EXPECT_EQ(step.precision.operand, product ? operand : DataType::f32) << step.kernel;
      EXPECT_EQ(step.precision.accumulate, DataType::f32);
      EXPECT_EQ(step.precision.store, DataType::f32);
    }
  }
}

TEST(Program, CountsOperations) {
  const auto program = CpuBackend().compile(perceptron().get(), {});
  const auto plan = program->plan({{"rows", 10}});
  EXPECT_EQ(plan->steps()[0].flops, 2.0 * 10 * 64 * 96);
  EXPECT_EQ(plan->steps()[0].bytes, 4.0 * (10 * 64 + 64 * 96 + 10 * 96));
}

TEST(Program, RefusesPrecisionsThatItDoesNotHave) {
  for (const Precision precision : {Precision::tf32, Precision::int8}) {
    CompileOptions options;
    options.precision = precision;
    EXPECT_THROW(CpuBackend().compile(perceptron().get(), options), Error);
  }
}

// A convolution of bytes behind what makes views: elements in reverse order, or repeated.
TEST(Program, ConvolvesViewsOfBytes) {
  for (const DataType type : {DataType::u8, DataType::i8}) {
    for (const std::int64_t channels : {3, 40}) {
      for (const bool repeated : {false, true}) {
        const auto compiled = [&](bool view) {
          SmallGraph g;
          ValueId x = g.input("x", type, {1, view && repeated ? 1 : channels, 9, 10});
          if (view && repeated) {
            x = g.node(graph::OpKind::broadcast, {x}, {{"shape", SymShape{1, channels, 9, 10}}});
          } else if (view) {
            x = g.node(graph::OpKind::slice, {x},
                       {{"starts", SymShape{-1, -1}},
                        {"ends", SymShape{-100, -100}},
                        {"axes", std::vector<std::int64_t>{1, 2}},
                        {"steps", std::vector<std::int64_t>{-1, -1}}});
          }
          Tensor weights(DataType::i8, {5, channels, 3, 3});
          for (std::int64_t i = 0; i < weights.count(); ++i) {
            weights.mutable_data()[i] = static_cast<std::byte>(i * 41 + 5);
          }
          Tensor zero(type, {});
          zero.mutable_data()[0] = std::byte{9};
          Tensor scale(DataType::f32, {});
          scale.as_mutable<float>()[0] = 0.5f;
          g.output(
              g.node(graph::OpKind::conv,
                     {x, g.constant(weights), g.weight({5}), g.constant(zero), g.constant(scale)},
                     {{"strides", std::vector<std::int64_t>{1, 1}},
                      {"pads", std::vector<std::int64_t>{1, 1, 1, 1}},
                      {"dilations", std::vector<std::int64_t>{1, 1}},
                      {"group", std::int64_t{1}},
                      {"auto_pad", std::string("notset")}}));
          return CpuBackend().compile(g.get(), {});
        };
        Tensor given(type, {1, repeated ? 1 : channels, 9, 10});
        for (std::int64_t i = 0; i < given.count(); ++i) {
          given.mutable_data()[i] = static_cast<std::byte>(i * 37 + 11);
        }
        Tensor dense(type, {1, channels, 9, 10});
        for (std::int64_t c = 0; c < channels; ++c) {
          for (std::int64_t h = 0; h < 9; ++h) {
            const std::int64_t from = repeated ? h : (channels - 1 - c) * 9 + (8 - h);
            std::copy_n(given.data() + from * 10, 10, dense.mutable_data() + (c * 9 + h) * 10);
          }
        }
        const auto viewed = run_once(*compiled(true), {}, {given});
        const auto plain = run_once(*compiled(false), {}, {dense});
        EXPECT_TRUE(identical(viewed[0], plain[0]))
            << to_string(type) << ", " << channels << " channels, repeated " << repeated;
      }
    }
  }
}

}  // namespace
}  // namespace concord::cpu
