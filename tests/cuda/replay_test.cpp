// What a run costs the host: one graph for as long as extents stay, and updates where they grow.

#include <memory>
#include <vector>

#include <gmock/gmock.h>

#include "backends/gpu/gpu_backend.h"
#include "graph/schema.h"
#include "tests/cuda/cuda_fixture.h"
#include "tests/gpu/lowering_fixture.h"

namespace concord::cuda {
namespace {

// tanh of exp of x, [n, 8].
std::shared_ptr<graph::Graph> two_steps() {
  auto graph = std::make_shared<graph::Graph>();
  graph::ValueId value = graph->add_value("x", DataType::f32, SymShape{Dim::symbol("n"), Dim(8)});
  graph->inputs = {value};
  for (const char* function : {"exp", "tanh"}) {
    graph::Node node;
    node.op = graph::OpKind::unary;
    node.name = function;
    node.attrs.set("fn", std::string(function));
    node.inputs = {value};
    value = graph->add_value(function, DataType::undefined);
    node.outputs = {value};
    graph::infer(*graph, graph->add_node(std::move(node)));
  }
  graph->outputs = {value};
  return graph;
}

class CudaReplay : public testing::Test {
 protected:
  static std::unique_ptr<Program> compile(std::size_t max_plans) {
    CompileOptions options;
    options.max_plans = max_plans;
    backend() = gpu::make_backend("cuda", 0, open_fake(), options);
    return backend()->compile(two_steps(), options);
  }
  static std::unique_ptr<Backend>& backend() {
    static std::unique_ptr<Backend> backend;
    return backend;
  }
  static void run(Program& program, std::int64_t n) {
    const Tensor x = gpu::random_floats({n, 8}, static_cast<unsigned>(n));
    std::vector<Tensor> outputs;
    program.plan({{"n", n}})->run({.inputs = std::span(&x, 1), .outputs = &outputs});
    ASSERT_EQ(outputs.at(0).shape(), (Shape{n, 8}));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n) * 8; ++i) {
      ASSERT_NEAR(outputs[0].as<float>()[i], std::tanh(std::exp(x.as<float>()[i])), 1e-6);
    }
  }
};

TEST_F(CudaReplay, TheSameExtentsMakeOneGraph) {
  const auto program = compile(16);
  run(*program, 5);
  const int made = fake_cuda::calls("cuGraphInstantiate");
  for (int i = 0; i < 3; ++i) run(*program, 5);
  EXPECT_EQ(fake_cuda::calls("cuGraphInstantiate"), made);
  // Context, graph, event; context, wait.
  EXPECT_THAT(program->describe(), testing::HasSubstr("5 calls of the driver in the last run"));
}

TEST_F(CudaReplay, GrowingExtentsUpdateIt) {
  const auto program = compile(1);
  run(*program, 64);
  const int made = fake_cuda::calls("cuGraphInstantiate");
  for (std::int64_t n = 20; n < 30; ++n) run(*program, n);
  // The first plan's recording is spare only when the second one has been planned.
  EXPECT_LE(fake_cuda::calls("cuGraphInstantiate"), made + 1);
  EXPECT_GT(fake_cuda::calls("cuGraphExecKernelNodeSetParams"), 0);
}

}  // namespace
}  // namespace concord::cuda
