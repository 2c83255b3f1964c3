#pragma once

// For tests of lowerings: one node on a real device.

#include <map>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "graph/attributes.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace concord::gpu {

struct NodeCase {
  std::string op;
  graph::Attributes attrs;
  std::vector<Tensor> inputs;       // undefined: omitted
  std::vector<bool> constant = {};  // which inputs are constants of the graph
  std::vector<DataType> outputs = {DataType::f32};
  bool symbolic = false;  // extents of inputs are symbols bound when planning
  Precision precision = Precision::model;
};

// Infers, compiles and runs it twice, through replay; fails the test if the two differ or if a run
// with taps does.
std::vector<Tensor> run_node(const NodeCase& test);

// The one step of the node's plan, and the bytes of the plan's arena.
struct Planned {
  StepInfo step;
  std::int64_t activations = 0;
};
Planned plan_node(const NodeCase& test);

// Why the backend refuses it; empty if it does not.
std::string refusal(const NodeCase& test);

Tensor floats(Shape shape, const std::vector<float>& values);
Tensor ints(Shape shape, const std::vector<std::int64_t>& values);
// Values between −1 and 1.
Tensor random_floats(Shape shape, unsigned seed);

}  // namespace concord::gpu
