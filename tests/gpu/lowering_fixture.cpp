#include "tests/gpu/lowering_fixture.h"

#include <map>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "backends/gpu/gpu_backend.h"
#include "graph/schema.h"
#include "tests/gpu/device_fixture.h"

namespace concord::gpu {
namespace {

struct Built {
  std::shared_ptr<graph::Graph> graph;
  std::vector<Tensor> inputs;
  Bindings bindings;
};

Built build(const NodeCase& test) {
  Built built;
  built.graph = std::make_shared<graph::Graph>();
  graph::Graph& graph = *built.graph;
  graph::Node node;
  node.op = graph::parse_op(test.op).value();
  node.attrs = test.attrs;
  node.name = "tested";
  node.source_op = test.op;
  for (std::size_t i = 0; i < test.inputs.size(); ++i) {
    const Tensor& tensor = test.inputs[i];
    const std::string name = "in" + std::to_string(i);
    if (!tensor.defined()) {
      node.inputs.push_back({});
    } else if (i < test.constant.size() && test.constant[i]) {
      node.inputs.push_back(graph.add_constant(name, tensor));
    } else {
      SymShape shape;
      for (std::size_t axis = 0; axis < tensor.shape().size(); ++axis) {
        const std::int64_t extent = tensor.shape()[axis];
        const std::string symbol = "n" + std::to_string(extent);
        shape.push_back(test.symbolic ? Dim::symbol(symbol) : Dim(extent));
        if (test.symbolic) built.bindings[symbol] = extent;
      }
      node.inputs.push_back(graph.add_value(name, tensor.dtype(), shape));
      graph.inputs.push_back(node.inputs.back());
      built.inputs.push_back(tensor);
    }
  }
  for (std::size_t i = 0; i < test.outputs.size(); ++i) {
    node.outputs.push_back(graph.add_value("out" + std::to_string(i), test.outputs[i]));
  }
  graph.outputs = node.outputs;
  const graph::NodeId id = graph.add_node(node);
  graph::infer(graph, id);
  graph::verify(graph);
  return built;
}

CompileOptions options_of(const NodeCase& test) {
  CompileOptions options;
  options.precision = test.precision;
  return options;
}

Backend& backend(const NodeCase& test) {
  static std::map<Precision, std::unique_ptr<Backend>> made;
  std::unique_ptr<Backend>& one = made[test.precision];
  if (one == nullptr) {
    // Shared with the other tests of the program, which own it.
    std::shared_ptr<Device> device(&test_device(), [](Device*) {});
    one = make_backend(test_device().properties().runs_ptx ? "cuda" : "vulkan", 0, device,
                       options_of(test));
  }
  return *one;
}

class EverythingSink : public TapSink {
 public:
  bool wants(graph::ValueId) const override { return true; }
  void take(graph::ValueId id, Tensor tensor) override { taken[id] = std::move(tensor); }
  std::map<graph::ValueId, Tensor> taken;
};

}  // namespace

std::vector<Tensor> run_node(const NodeCase& test) {
  const Built built = build(test);
  const graph::Node& node = built.graph->node(built.graph->order().front());
  const auto reason = backend(test).why_unsupported(*built.graph, node);
  EXPECT_EQ(reason.value_or(""), "");
  if (reason.has_value()) return {};
  const auto program = backend(test).compile(built.graph, options_of(test));
  const auto plan = program->plan(built.bindings);
  std::vector<Tensor> outputs;
  std::vector<Tensor> again;
  std::vector<Tensor> tapped;
  std::vector<double> times;
  EverythingSink sink;
  plan->run({.inputs = built.inputs, .outputs = &outputs});
  plan->run({.inputs = built.inputs, .outputs = &again, .step_ms = &times});
  plan->run({.inputs = built.inputs, .outputs = &tapped, .taps = &sink});
  EXPECT_EQ(times.size(), 1U);
  EXPECT_EQ(outputs.size(), test.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_TRUE(identical(outputs[i], again[i])) << "a second run differs";
    EXPECT_TRUE(identical(outputs[i], tapped[i])) << "a run with taps differs";
    const auto tap = sink.taken.find(built.graph->outputs[i]);
    EXPECT_TRUE(tap != sink.taken.end() && identical(tap->second, outputs[i]));
  }
  return outputs;
}

std::string refusal(const NodeCase& test) {
  const Built built = build(test);
  const graph::Node& node = built.graph->node(built.graph->order().front());
  return backend(test).why_unsupported(*built.graph, node).value_or("");
}

Planned plan_node(const NodeCase& test) {
  const Built built = build(test);
  const auto plan = backend(test).compile(built.graph, options_of(test))->plan(built.bindings);
  return {plan->steps().front(), plan->memory().activations};
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor::of<float>(std::move(shape), values);
}

Tensor ints(Shape shape, const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>(std::move(shape), values);
}

Tensor random_floats(Shape shape, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
  Tensor tensor(DataType::f32, std::move(shape));
  for (float& value : tensor.as_mutable<float>()) value = distribution(engine);
  return tensor;
}

}  // namespace concord::gpu
