#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "graph/graph.h"

namespace concord::cpu {

// Builds graphs node by node, with shapes inferred; what a test needs of a model.
class SmallGraph {
 public:
  graph::ValueId input(const std::string& name, DataType dtype, SymShape shape);
  graph::ValueId weight(Shape shape, float scale = 0.1f);  // f32, seeded by its number
  graph::ValueId constant(Tensor tensor);
  graph::ValueId node(graph::OpKind op, std::vector<graph::ValueId> inputs,
                      graph::Attributes attrs = {});
  std::vector<graph::ValueId> nodes(graph::OpKind op, std::vector<graph::ValueId> inputs,
                                    graph::Attributes attrs, int outputs);
  void output(graph::ValueId value) { graph_->outputs.push_back(value); }

  graph::ValueId matmul(graph::ValueId x, graph::ValueId w, bool trans_b = false);
  graph::ValueId unary(graph::ValueId x, const std::string& fn);
  graph::ValueId binary(graph::ValueId a, graph::ValueId b, const std::string& fn);
  graph::ValueId reshape(graph::ValueId x, SymShape shape);
  graph::ValueId transpose(graph::ValueId x, std::vector<std::int64_t> perm);

  std::shared_ptr<graph::Graph> get() const { return graph_; }

 private:
  std::shared_ptr<graph::Graph> graph_ = std::make_shared<graph::Graph>();
  int weights_ = 0;
};

Tensor random_tensor(Shape shape, unsigned seed);

// Runs the program once at these extents.
std::vector<Tensor> run_once(Program& program, const Bindings& bindings,
                             const std::vector<Tensor>& inputs, TapSink* taps = nullptr);

}  // namespace concord::cpu
