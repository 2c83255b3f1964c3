#include "parity/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "backends/session.h"
#include "importer/importer.h"
#include "importer/tensor_io.h"
#include "parity/oracle_pass.h"
#include "tests/graph/builder.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::ValueId;

Tensor floats(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<std::int64_t>(values.size())},
                           std::span<const float>(values));
}
Tensor doubles(const std::vector<double>& values) {
  return Tensor::of<double>({static_cast<std::int64_t>(values.size())},
                            std::span<const double>(values));
}

Verdict verdict_of(const Tensor& actual, const Tensor& reference, double noise,
                   const std::optional<Tolerance>& tolerance = {}) {
  return judge_output("y", actual, DataType::f32, reference, noise, tolerance).verdict;
}

TEST(JudgeOutput, ByTheNoiseOfHonestRounding) {
  const std::vector<double> reference(100, 1.0);
  std::vector<float> actual(100, 1.0f + std::ldexp(1.0f, -20));
  const double error = std::ldexp(1.0, -20);
  EXPECT_EQ(verdict_of(floats(actual), doubles(reference), error / 3.9), Verdict::agrees);
  EXPECT_EQ(verdict_of(floats(actual), doubles(reference), error / 4.2), Verdict::diverged);
}

TEST(JudgeOutput, WithoutNoiseOnlyEqualValuesAgree) {
  EXPECT_EQ(verdict_of(floats({1, 2}), doubles({1, 2}), 0), Verdict::agrees);
  EXPECT_EQ(verdict_of(floats({1, 2.0000002f}), doubles({1, 2}), 0), Verdict::diverged);
}

TEST(JudgeOutput, ShapeTypeAndNonFinite) {
  EXPECT_EQ(verdict_of(floats({1, 2}), doubles({1, 2, 3}), 1), Verdict::shape);
  EXPECT_EQ(judge_output("y", doubles({1}), DataType::f32, doubles({1}), 1, {}).verdict,
            Verdict::type);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(verdict_of(floats({nan, 2}), doubles({1, 2}), 1), Verdict::non_finite);
  EXPECT_EQ(verdict_of(floats({nan, 2}), doubles({std::nan(""), 2}), 1), Verdict::agrees);
}

TEST(JudgeOutput, TolerancesReplaceTheBudget) {
  EXPECT_EQ(verdict_of(floats({1.05f}), doubles({1}), 0, Tolerance{0.1, 0}), Verdict::agrees);
  EXPECT_EQ(verdict_of(floats({1.05f}), doubles({1}), 1, Tolerance{0.01, 0}), Verdict::diverged);
  EXPECT_EQ(verdict_of(floats({1.05f}), doubles({1}), 1, Tolerance{0, 0.1}), Verdict::agrees);
}

// --- steps: a model is run on the CPU, one step's tapped result is changed, and that step must be
// found.

struct Taps final : TapSink {
  std::map<TapKey, Tensor> taken;
  bool wants(ValueId) const override { return true; }
  void take(ValueId id, Tensor tensor) override { taken[{BodyPath{}, id.index}] = tensor.clone(); }
};

struct Ran {
  std::shared_ptr<const Graph> imported;
  std::shared_ptr<const Graph> optimised;
  std::vector<Tensor> inputs;
  std::map<TapKey, Tensor> taps;
  std::vector<WorkerStep> steps;
};

Ran run_on_cpu(const std::string& name) {
  Ran ran;
  const std::string folder = std::string(CONCORD_SOURCE_DIR "/models/") + name;
  ran.imported = importer::load(folder).graph;
  const importer::DataSet set = importer::read_data_set(folder + "/test_data_set_0", *ran.imported);
  for (const ValueId id : ran.imported->inputs) {
    ran.inputs.push_back(set.inputs.at(ran.imported->value(id).name));
  }
  Session session(ran.imported, "cpu");
  Taps taps;
  std::vector<SessionStep> steps;
  RunOptions options;
  options.taps = &taps;
  options.steps = &steps;
  session.run(ran.inputs, options);
  ran.taps = std::move(taps.taken);
  ran.optimised = std::make_shared<const Graph>(session.optimised());
  for (const SessionStep& step : steps) {
    WorkerStep one;
    one.node = step.info.node.index;
    one.backend = step.backend;
    one.kernel = step.info.kernel;
    one.precision = step.info.precision;
    ran.steps.push_back(one);
  }
  return ran;
}

std::vector<StepReport> judged(const Ran& ran) {
  return judge_steps(*ran.imported, *ran.optimised, ran.steps, ran.taps, ran.inputs);
}

// Steps of an operator whose results are tapped floats.
std::vector<std::size_t> steps_of(const Ran& ran, OpKind op) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < ran.steps.size(); ++i) {
    const Node& node = ran.optimised->node(NodeId{ran.steps[i].node});
    const auto tap = ran.taps.find({BodyPath{}, node.output().index});
    if (node.op == op && tap != ran.taps.end() && tap->second.dtype() == DataType::f32) {
      found.push_back(i);
    }
  }
  return found;
}

TEST(JudgeSteps, HonestStepsAreWithinBudget) {
  for (const char* name : {"bert__dynamo20", "llama_past__dynamo20"}) {
    const Ran ran = run_on_cpu(name);
    std::size_t count = 0;
    for (const StepReport& step : judged(ran)) {
      if (!step.judged) continue;
      ++count;
      EXPECT_EQ(step.verdict, StepVerdict::within_budget)
          << name << ": " << step.op << " " << step.name << ": " << step.worst_budget;
    }
    EXPECT_GT(count, 20u) << name;
  }
}

using Fault = void (*)(std::span<float>);

// A fault in one step's result is found at that step and, since the steps after it are judged by
// the inputs that they had, nowhere before it.
void expect_located(OpKind op, Fault fault, StepVerdict wanted) {
  Ran ran = run_on_cpu("bert__dynamo20");
  const std::vector<std::size_t> candidates = steps_of(ran, op);
  ASSERT_FALSE(candidates.empty());
  const std::size_t at = candidates[candidates.size() / 2];
  const ValueId output = ran.optimised->node(NodeId{ran.steps[at].node}).output();
  fault(ran.taps.at({BodyPath{}, output.index}).as_mutable<float>());
  const std::vector<StepReport> reports = judged(ran);
  EXPECT_EQ(reports[at].verdict, wanted) << reports[at].worst_budget;
  for (std::size_t i = 0; i < at; ++i) {
    if (!reports[i].judged) continue;
    EXPECT_EQ(reports[i].verdict, StepVerdict::within_budget) << i;
  }
  EXPECT_FALSE(reports[at].members.empty());
  EXPECT_FALSE(reports[at].kernel.empty());
}

TEST(JudgeSteps, LocatesOneWrongElement) {
  expect_located(
      OpKind::matmul, [](std::span<float> y) { y[y.size() / 2] += 1e-3f; },
      StepVerdict::over_budget);
}

TEST(JudgeSteps, LocatesOneNan) {
  expect_located(
      OpKind::layer_norm,
      [](std::span<float> y) { y[1] = std::numeric_limits<float>::quiet_NaN(); },
      StepVerdict::non_finite);
}

TEST(JudgeSteps, LocatesRoundingToBfloat16) {
  expect_located(
      OpKind::attention,
      [](std::span<float> y) {
        for (float& v : y) v = bf16_to_f32(f32_to_bf16(v));
      },
      StepVerdict::over_budget);
}

TEST(JudgeSteps, LocatesSwappedElements) {
  expect_located(
      OpKind::layer_norm, [](std::span<float> y) { std::swap(y[0], y[1]); },
      StepVerdict::over_budget);
}

// A choice that the oracle did not make in its own run marks the step and what follows it, and
// excuses the outputs behind it.
TEST(JudgeSteps, MarksWhatBranches) {
  const Ran ran = run_on_cpu("bert__dynamo20_dynint8");
  OraclePass oracle(ran.imported, ran.inputs);
  Choices choices = oracle.choices();
  const auto chosen = std::find_if(choices.begin(), choices.end(), [](const auto& choice) {
    return choice.second.dtype() == DataType::u8 && choice.second.count() > 1;
  });
  ASSERT_NE(chosen, choices.end());
  chosen->second = chosen->second.clone();
  chosen->second.as_mutable<std::uint8_t>()[0] ^= 1;
  const std::vector<StepReport> reports = judge_steps(*ran.imported, *ran.optimised, ran.steps,
                                                      ran.taps, ran.inputs, {false, &choices});
  const auto first = std::find_if(reports.begin(), reports.end(), [](const StepReport& step) {
    return step.verdict == StepVerdict::branched;
  });
  ASSERT_NE(first, reports.end());
  EXPECT_EQ(first_fault(reports), nullptr);
  std::vector<OutputReport> outputs(ran.optimised->outputs.size());
  outputs[0].verdict = Verdict::diverged;
  excuse_branches(*ran.optimised, reports, outputs);
  EXPECT_EQ(outputs[0].verdict, Verdict::branched);
}

TEST(JudgeSteps, OneUlpOfAnArithmeticStepIsNoFault) {
  expect_located(
      OpKind::matmul, [](std::span<float> y) { y[3] = std::nextafter(y[3], 1e9f); },
      StepVerdict::within_budget);
}

// y = x c in a backend that keeps values in f16, of which the next after 1 is 1 + 2^-10. What it
// made of x and c when it stored them is not the step's error, and more than rounding is.
TEST(JudgeSteps, TakesConstantsAndInputsAsTheyAreKept) {
  graph::Builder b;
  const float nearly_up = 1 + 0.99f * 0x1p-11f;  // 1 in f16; its square is 2 roundings away from 1
  const ValueId x = b.input("x", DataType::f32, {Dim(2)});
  const ValueId y =
      b.op(OpKind::binary, {x, b.constant(floats({nearly_up, 1}))}, {{"fn", std::string("mul")}});
  b.graph.outputs = {y};
  WorkerStep step;
  step.node = b.graph.value(y).producer.index;
  step.precision = {DataType::f16, DataType::f32, DataType::f16};
  const auto verdict = [&](float first) {
    const std::map<TapKey, Tensor> taps{{{BodyPath{}, y.index}, floats({first, 1})}};
    return judge_steps(b.graph, b.graph, {step}, taps, {floats({nearly_up, 1})}).at(0).verdict;
  };
  EXPECT_EQ(verdict(1), StepVerdict::within_budget);
  EXPECT_EQ(verdict(1 + 0x1p-9f), StepVerdict::over_budget);
  step.precision = {};  // kept as declared, it must not lose that
  EXPECT_EQ(verdict(1), StepVerdict::over_budget);
}

}  // namespace
}  // namespace concord::parity
