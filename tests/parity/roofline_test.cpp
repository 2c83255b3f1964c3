#include "parity/roofline.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "graph/schema.h"
#include "parity/floor.h"
#include "parity/work.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::OpKind;
using graph::ValueId;

ValueId add(Graph& graph, OpKind op, std::vector<ValueId> inputs, graph::Attributes attrs) {
  graph::Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  const ValueId y = graph.add_value("v" + std::to_string(graph.value_count()), DataType::undefined);
  node.outputs = {y};
  graph::infer(graph, graph.add_node(std::move(node)));
  return y;
}

// y = relu(x w): x is [seq, 64], w is [64, 128].
struct Model {
  Graph graph;
  Model() {
    const ValueId x = graph.add_value("x", DataType::f32, SymShape{Dim::symbol("seq"), Dim(64)});
    graph.inputs = {x};
    const ValueId w = graph.add_constant("w", Tensor::zeros(DataType::f32, {64, 128}));
    const ValueId c =
        add(graph, OpKind::matmul, {x, w},
            {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{0}}, {"alpha", 1.0}});
    const ValueId y = add(graph, OpKind::unary, {c},
                          {{"fn", std::string("relu")}, {"alpha", 0.0}, {"beta", 0.0}});
    graph.outputs = {y};
  }
};

Ceilings ceilings() {
  Ceilings c;
  c.backend = "cpu";
  c.device.type = "cpu";
  c.step_ms = 0.001;
  c.run_ms = 0.002;
  c.copies = {{1e4, 1e10}, {1e6, 4e10}, {1e8, 1e10}};
  c.reads = {{1e4, 1e9}};
  c.matmuls = {{"float32", 1e11, {{64, 5e10, "k"}, {128, 1e11, "k"}}}, {"bfloat16", 2e11, {}}};
  return c;
}

TEST(Work, CountsEachOperandOnce) {
  const Model m;
  const auto& order = m.graph.order();
  const Bindings dims = {{"seq", 10}};
  const auto product = work_of(m.graph, m.graph.node(order[0]), dims);
  ASSERT_TRUE(product.has_value());
  EXPECT_EQ(product->flops, 2.0 * 10 * 64 * 128);
  EXPECT_EQ(product->weight_bytes, 4.0 * 64 * 128);
  EXPECT_EQ(product->bytes, 4.0 * (64 * 128 + 10 * 64 + 10 * 128));
  const auto relu = work_of(m.graph, m.graph.node(order[1]), dims);
  EXPECT_EQ(relu->bytes, 4.0 * 2 * 10 * 128);
  EXPECT_EQ(moved_bytes(m.graph, dims), product->bytes + relu->bytes);
  EXPECT_FALSE(work_of(m.graph, m.graph.node(order[0]), {}).has_value());
}

TEST(Work, LookupsReadRowsAndViewsNothing) {
  Graph graph;
  const ValueId table = graph.add_constant("table", Tensor::zeros(DataType::f32, {1000, 8}));
  const ValueId ids = graph.add_value("ids", DataType::i64, SymShape{Dim(5)});
  graph.inputs = {ids};
  const ValueId rows = add(graph, OpKind::gather, {table, ids}, {{"axis", std::int64_t{0}}});
  graph.outputs = {rows};
  EXPECT_EQ(work_of(graph, graph.node(graph.order()[0]), {})->bytes, 4.0 * 2 * 5 * 8 + 5 * 8);
}

TEST(Ceilings, CopiesBetweenMeasuredSizes) {
  const Ceilings c = ceilings();
  EXPECT_EQ(c.copy_rate(10), 4e10);  // small ones are bound by overhead, not by memory
  EXPECT_EQ(c.copy_rate(1e6), 4e10);
  EXPECT_NEAR(c.copy_rate(1e7), 2.5e10, 1);
  EXPECT_EQ(c.copy_rate(1e9), 1e10);
}

TEST(Ceilings, PeaksByPrecision) {
  StepPrecision bf16;
  bf16.operand = DataType::bf16;
  StepPrecision unknown;
  unknown.operand = DataType::f64;
  EXPECT_EQ(ceilings().peak(bf16), 2e11);
  EXPECT_EQ(ceilings().peak(unknown), 1e11);
  EXPECT_EQ(Ceilings().peak(bf16), 0);
}

TEST(Ceilings, SurviveJson) {
  const Ceilings c = ceilings_from_json(to_json(ceilings()));
  EXPECT_EQ(to_json(c), to_json(ceilings()));
}

TEST(Roofline, PlacesStepsUnderTheHighestCeiling) {
  const Model m;
  std::vector<WorkerStep> steps(2);
  steps[0].node = m.graph.order()[0].index;
  steps[0].kernel = "matmul";
  steps[0].ms = 10;
  steps[1].node = m.graph.order()[1].index;
  steps[1].kernel = "relu";
  steps[1].ms = 0.004;
  const Bindings dims = {{"seq", 10000}};
  const Roofline r = place(m.graph, &m.graph, dims, steps, ceilings(), 12, 0.5);
  // 1.6e8 FLOP at 1e11 is 1.6 ms, 7.7 MB are less.
  EXPECT_EQ(r.steps[0].bound, Bound::arithmetic);
  EXPECT_NEAR(r.steps[0].lower_ms, 2.0 * 10000 * 64 * 128 / 1e11 * 1e3, 1e-9);
  // The elementwise step beats its ceiling: counted with what it took.
  EXPECT_EQ(r.steps[1].bound, Bound::memory);
  EXPECT_GT(r.steps[1].lower_ms, steps[1].ms);
  EXPECT_NEAR(r.lower_ms, r.steps[0].lower_ms + 0.004 + 0.002, 1e-9);
  EXPECT_NEAR(r.outside_ms, 12 - 10.004 - 0.5, 1e-9);
  EXPECT_EQ(r.moved_bytes, r.unfused_bytes);
  EXPECT_EQ(r.bound, Bound::arithmetic);
  ASSERT_EQ(r.kernels.size(), 2u);
  EXPECT_EQ(r.kernels[0].kernel, "matmul");
  // A median that is faster than the steps were when they were timed is what could be.
  EXPECT_EQ(place(m.graph, nullptr, dims, steps, ceilings(), 1, 0).lower_ms, 1);
}

TEST(Roofline, AGroupOfProductsCountsWhereItRan) {
  Model m;
  const ValueId w = m.graph.add_constant("w2", Tensor::zeros(DataType::f32, {64, 32}));
  const ValueId y =
      add(m.graph, OpKind::matmul, {m.graph.inputs[0], w},
          {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{0}}, {"alpha", 1.0}});
  m.graph.outputs.push_back(y);
  std::vector<WorkerStep> steps(2);
  steps[0].node = m.graph.order()[0].index;
  steps[0].kernel = "matmul packed";
  steps[0].ms = 10;
  steps[1].node = m.graph.order()[2].index;
  steps[1].kernel = "with its group";
  steps[1].ms = 1e-5;
  const Roofline r = place(m.graph, nullptr, {{"seq", 10}}, steps, ceilings(), 12, 0);
  EXPECT_EQ(r.steps[0].flops, 2.0 * 10 * 64 * (128 + 32));
  EXPECT_EQ(r.steps[0].bytes, 4.0 * (10 * 64 + 64 * (128 + 32) + 10 * (128 + 32)));
  EXPECT_EQ(r.steps[1].flops, 0);
  EXPECT_EQ(r.steps[1].bound, Bound::none);
}

TEST(Roofline, WeightsAreReadAsWideAsTheStepsOperands) {
  const Model m;
  std::vector<WorkerStep> steps(1);
  steps[0].node = m.graph.order()[0].index;
  steps[0].ms = 10;
  steps[0].precision.operand = DataType::bf16;
  const Roofline r = place(m.graph, &m.graph, {{"seq", 1}}, steps, ceilings(), 12, 0);
  const double activations = 4.0 * (64 + 128);
  EXPECT_EQ(r.steps[0].bytes, 2.0 * 64 * 128 + activations);
  EXPECT_NEAR(r.steps[0].lower_ms, (2.0 * 64 * 128 / 1e9 + activations / 4e10) * 1e3, 1e-12);
  EXPECT_EQ(r.unfused_bytes - r.moved_bytes, 4.0 * 2 * 128);  // the relu's
}

TEST(Roofline, SmallStepsAreOverhead) {
  const Model m;
  std::vector<WorkerStep> steps(1);
  steps[0].node = m.graph.order()[1].index;
  steps[0].ms = 0.01;
  const Roofline r = place(m.graph, nullptr, {{"seq", 1}}, steps, ceilings(), 0.02, 0);
  EXPECT_EQ(r.steps[0].bound, Bound::overhead);
  EXPECT_NEAR(r.steps[0].lower_ms, 0.001, 1e-12);
  EXPECT_EQ(r.unfused_bytes, 0);
}

WorkerStep step_of(const Model& m, std::size_t node) {
  WorkerStep step;
  step.node = m.graph.order()[node].index;
  step.ms = 1;
  return step;
}

TEST(Floor, IsTheLargerOfArithmeticAndMemory) {
  const Model m;
  const std::vector<WorkerStep> steps = {step_of(m, 0), step_of(m, 1)};
  const double weights = 4.0 * 64 * 128;
  const Floor one = floor_of(m.graph, {{"seq", 1}}, steps, ceilings());
  EXPECT_EQ(one.flops, 2.0 * 64 * 128 + 128);
  EXPECT_EQ(one.bytes, weights + 4 * 64 + 4 * 128);  // what lies between the two steps is not in it
  EXPECT_EQ(one.bound, Bound::memory);
  EXPECT_DOUBLE_EQ(one.ms, one.bytes / 1e9 * 1e3);
  Ceilings fast = ceilings();
  fast.reads = {{1e4, 1e15}};
  const Floor many = floor_of(m.graph, {{"seq", 1000}}, steps, fast);
  EXPECT_EQ(many.bound, Bound::arithmetic);
  EXPECT_DOUBLE_EQ(many.ms, many.flops / 1e11 * 1e3);
}

TEST(Floor, ReadsEachWeightOnceAndAsWideAsItsStepDoes) {
  Model m;
  const ValueId w = m.graph.node(m.graph.order()[0]).input(1);
  m.graph.outputs.push_back(
      add(m.graph, OpKind::matmul, {m.graph.inputs[0], w},
          {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{0}}, {"alpha", 1.0}}));
  std::vector<WorkerStep> steps = {step_of(m, 0), step_of(m, 1), step_of(m, 2)};
  const double others = 4 * 64 + 4 * 2 * 128;
  EXPECT_EQ(floor_of(m.graph, {{"seq", 1}}, steps, ceilings()).bytes, 4.0 * 64 * 128 + others);
  for (WorkerStep& step : steps) step.precision.operand = DataType::bf16;
  const Floor half = floor_of(m.graph, {{"seq", 1}}, steps, ceilings());
  EXPECT_EQ(half.bytes, 2.0 * 64 * 128 + others);
  Ceilings fast = ceilings();
  fast.reads = {{1e4, 1e15}};
  EXPECT_DOUBLE_EQ(floor_of(m.graph, {{"seq", 1}}, steps, fast).ms, half.flops / 2e11 * 1e3);
}

TEST(Floor, OfADeviceWithoutCeilingsIsNone) {
  const Model m;
  EXPECT_EQ(floor_of(m.graph, {{"seq", 1}}, {step_of(m, 0)}, Ceilings()).ms, 0);
}

}  // namespace
}  // namespace concord::parity
