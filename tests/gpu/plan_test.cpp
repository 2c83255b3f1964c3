// Programs of several nodes: memory, replay, taps, threads, growing extents.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/gpu/gpu_backend.h"
#include "graph/error.h"
#include "graph/schema.h"
#include "tests/gpu/device_fixture.h"
#include "tests/gpu/lowering_fixture.h"

namespace concord::gpu {
namespace {

using graph::ValueId;

class Builder {
 public:
  std::shared_ptr<graph::Graph> graph = std::make_shared<graph::Graph>();

  ValueId input(const std::string& name, const SymShape& shape, DataType dtype = DataType::f32) {
    graph->inputs.push_back(graph->add_value(name, dtype, shape));
    return graph->inputs.back();
  }
  ValueId node(const std::string& op, const std::vector<ValueId>& inputs,
               const graph::Attributes& attrs, DataType dtype = DataType::f32) {
    graph::Node node;
    node.op = graph::parse_op(op).value();
    node.inputs = inputs;
    node.attrs = attrs;
    node.name = op;
    node.source_op = op;
    node.outputs = {graph->add_value(op + "_out", dtype)};
    const graph::NodeId id = graph->add_node(node);
    graph::infer(*graph, id);
    return graph->node(id).outputs[0];
  }
  ValueId unary(const std::string& fn, ValueId x) {
    return node("unary", {x}, {{"fn", fn}, {"alpha", 0.0}, {"beta", 0.0}});
  }
  ValueId binary(const std::string& fn, ValueId a, ValueId b) {
    return node("binary", {a, b}, {{"fn", fn}});
  }
};

std::unique_ptr<Backend> make(const CompileOptions& options = {}) {
  std::shared_ptr<Device> device(&test_device(), [](Device*) {});
  return make_backend("vulkan", 0, device, options);
}

// ((x + 1)·2 − x)… : a long chain, in which each value is needed twice.
Builder chain(int length) {
  Builder b;
  ValueId x = b.input("x", {Dim::symbol("n"), Dim(64)});
  const ValueId half = b.graph->add_constant("half", Tensor::scalar(0.5F));
  for (int i = 0; i < length; ++i) {
    const ValueId negative = b.unary("neg", x);
    const ValueId scaled = b.binary("mul", x, half);
    x = b.binary("sub", scaled, negative);  // 1.5 x
  }
  b.graph->outputs = {x};
  return b;
}

Tensor chain_expected(const Tensor& x, int length) {
  Tensor y = x.clone();
  for (float& value : y.as_mutable<float>()) {
    for (int i = 0; i < length; ++i) value = value * 0.5F + value;
  }
  return y;
}

TEST(GpuPlan, reuses_memory_and_stays_right) {
  const Builder b = chain(30);
  const auto program = make()->compile(b.graph, {});
  const auto plan = program->plan({{"n", 16}});
  const Tensor x = random_floats({16, 64}, 1);
  std::vector<Tensor> outputs;
  plan->run({.inputs = std::span(&x, 1), .outputs = &outputs});
  EXPECT_TRUE(identical(outputs.at(0), chain_expected(x, 30)));
  EXPECT_LE(plan->memory().activations, 5 * 4096);
  EXPECT_GE(plan->memory().naive, 90 * 4096);
  EXPECT_EQ(plan->memory().weights, 4);
}

TEST(GpuPlan, is_kept_per_extents_and_bounded) {
  const Builder b = chain(1);
  CompileOptions options;
  options.max_plans = 2;
  const auto program = make(options)->compile(b.graph, options);
  const auto first = program->plan({{"n", 1}});
  EXPECT_EQ(program->plan({{"n", 1}}), first);
  const auto second = program->plan({{"n", 2}});
  EXPECT_EQ(program->plan({{"n", 1}}), first);
  program->plan({{"n", 3}});
  EXPECT_EQ(program->plan({{"n", 1}}), first);
  EXPECT_NE(program->plan({{"n", 2}}), second);
}

TEST(GpuPlan, follows_growing_extents) {
  const Builder b = chain(3);
  const auto program = make()->compile(b.graph, {});
  for (std::int64_t n = 0; n < 40; ++n) {
    const Tensor x = random_floats({n, 64}, static_cast<unsigned>(n));
    std::vector<Tensor> outputs;
    program->plan({{"n", n}})->run({.inputs = std::span(&x, 1), .outputs = &outputs});
    ASSERT_TRUE(identical(outputs.at(0), chain_expected(x, 3))) << n;
  }
}

TEST(GpuPlan, gives_the_same_without_replay) {
  const Builder b = chain(4);
  CompileOptions options;
  options.replay = false;
  const auto program = make(options)->compile(b.graph, options);
  const Tensor x = random_floats({5, 64}, 1);
  for (int i = 0; i < 3; ++i) {
    std::vector<Tensor> outputs;
    program->plan({{"n", 5}})->run({.inputs = std::span(&x, 1), .outputs = &outputs});
    EXPECT_TRUE(identical(outputs.at(0), chain_expected(x, 4)));
  }
}

TEST(GpuPlan, is_run_by_many_threads) {
  const Builder b = chain(8);
  const auto program = make()->compile(b.graph, {});
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const auto n = static_cast<std::int64_t>(1 + (t + static_cast<std::size_t>(i)) % 3);
        const Tensor x =
            random_floats({n, 64}, static_cast<unsigned>(t * 100) + static_cast<unsigned>(i));
        std::vector<Tensor> outputs;
        program->plan({{"n", n}})->run({.inputs = std::span(&x, 1), .outputs = &outputs});
        if (!identical(outputs.at(0), chain_expected(x, 8))) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
}

TEST(GpuPlan, outlives_its_program) {
  const Builder b = chain(2);
  const Tensor x = random_floats({2, 64}, 1);
  std::shared_ptr<const Plan> plan = make()->compile(b.graph, {})->plan({{"n", 2}});
  std::vector<Tensor> outputs;
  plan->run({.inputs = std::span(&x, 1), .outputs = &outputs});
  EXPECT_TRUE(identical(outputs.at(0), chain_expected(x, 2)));
}

TEST(GpuPlan, passes_inputs_and_constants_through) {
  Builder b;
  const ValueId x = b.input("x", {Dim(3)});
  const ValueId view = b.node(
      "reshape", {x}, {{"shape", SymShape{Dim(3), Dim(1)}}, {"allow_zero", std::int64_t{0}}});
  const ValueId constant = b.graph->add_constant("c", ints({2}, {5, 1LL << 40}));
  b.graph->outputs = {x, constant, view, view};
  const Tensor tensor = random_floats({3}, 1);
  std::vector<Tensor> outputs;
  make()
      ->compile(b.graph, {})
      ->plan({})
      ->run({.inputs = std::span(&tensor, 1), .outputs = &outputs});
  ASSERT_EQ(outputs.size(), 4U);
  EXPECT_TRUE(identical(outputs[0], tensor));
  EXPECT_TRUE(identical(outputs[1], ints({2}, {5, 1LL << 40})));
  EXPECT_TRUE(identical(outputs[2], tensor.reshaped({3, 1})));
  EXPECT_TRUE(identical(outputs[3], outputs[2]));
}

TEST(GpuPlan, keeps_half_floats_as_such) {
  if (!test_device().properties().abilities.storage16) GTEST_SKIP() << "no 16-bit storage here";
  Builder b;
  const ValueId x = b.input("x", {Dim(5)}, DataType::f16);
  const ValueId wide = b.node("cast", {x}, {{"to", DataType::f32}, {"saturate", std::int64_t{1}}});
  const ValueId twice = b.binary("add", wide, wide);
  b.graph->outputs = {b.node(
      "cast", {twice}, {{"to", DataType::f16}, {"saturate", std::int64_t{1}}}, DataType::f16)};
  Tensor tensor(DataType::f16, {5});
  const float values[] = {1.5F, -2.25F, 0.0F, 1e-3F, 1000.0F};
  for (std::size_t i = 0; i < 5; ++i) tensor.as_mutable<std::uint16_t>()[i] = f32_to_f16(values[i]);
  std::vector<Tensor> outputs;
  make()
      ->compile(b.graph, {})
      ->plan({})
      ->run({.inputs = std::span(&tensor, 1), .outputs = &outputs});
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(outputs.at(0).at_double(i), 2 * tensor.at_double(i));
  }
}

TEST(GpuPlan, tells_its_steps) {
  const Builder b = chain(2);
  const auto plan = make()->compile(b.graph, {})->plan({{"n", 4}});
  ASSERT_EQ(plan->steps().size(), 6U);
  EXPECT_EQ(plan->steps()[0].kernel, "unary_neg_f32");
  EXPECT_EQ(plan->steps()[1].kernel, "binary_mul_f32");
  EXPECT_EQ(plan->steps()[0].bytes, 2 * 4 * 64 * 4);
  EXPECT_EQ(plan->steps()[0].flops, 4 * 64);
  EXPECT_EQ(plan->steps()[0].precision.store, DataType::f32);
  const Tensor x = random_floats({4, 64}, 1);
  std::vector<double> times;
  plan->run({.inputs = std::span(&x, 1), .step_ms = &times});
  ASSERT_EQ(times.size(), 6U);
  EXPECT_TRUE(!test_device().properties().timestamps || times[0] > 0.0);
}

TEST(GpuBackend, refuses_precisions_that_it_has_not) {
  if (test_device().properties().short_products) GTEST_SKIP() << "it has them";
  for (const Precision precision : {Precision::bf16, Precision::tf32}) {
    CompileOptions options;
    options.precision = precision;
    EXPECT_THROW(make(options), Error);
  }
}

TEST(GpuBackend, says_why_a_type_is_not_kept) {
  NodeCase test{"reshape",
                {{"shape", SymShape{Dim(2)}}, {"allow_zero", std::int64_t{0}}},
                {Tensor::zeros(DataType::c64, {2})},
                {},
                {DataType::c64}};
  EXPECT_NE(refusal(test).find("complex64"), std::string::npos);
}

}  // namespace
}  // namespace concord::gpu
