#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/cpu/program.h"
#include "backends/cpu/weights.h"

namespace concord::cpu {

// Makes a program's layout: numbers its values, prepares its nodes. What a prepare function sees;
// inputs and outputs are the node's, by position.
class Compiler {
 public:
  Compiler(std::shared_ptr<const graph::Graph> graph, const CompileOptions& options);
  ProgramLayout compile();

  const graph::Graph& graph() const { return *graph_; }
  const std::shared_ptr<const graph::Graph>& shared_graph() const { return graph_; }
  const graph::Node& node() const { return *node_; }
  const graph::Attributes& attrs() const { return node_->attrs; }

  bool has(int input) const { return node_->has_input(static_cast<std::size_t>(input)); }
  const graph::Value& value(int input) const;
  const graph::Value& out_value(int output = 0) const;
  DataType dtype(int input) const { return value(input).dtype; }
  int rank(int input) const { return static_cast<int>(value(input).shape->size()); }
  const Tensor* constant(int input) const;  // null if it is none, or omitted

  // Makes output 0 of the node a constant, for the nodes behind it and in every plan; the PlanFn
  // that does so is returned.
  PlanFn define_constant(Tensor tensor);

  DimRef dim(const Dim& dim) { return layout_.dims.add(dim); }
  std::vector<DimRef> dims(std::string_view attribute);
  std::vector<int> integers(std::string_view attribute) const;

  WeightStore& weights() { return weights_; }
  // How the weights of a product are kept, by the options and the model's type.
  Element weight_storage(DataType dtype) const;
  // f32 values of a constant float tensor, kept by the program.
  const float* constant_f32(const Tensor& tensor);
  void add_weight_bytes(std::int64_t bytes) { layout_.weight_bytes += bytes; }
  // Makes plans keep this alive.
  void keep(std::shared_ptr<const void> thing) { layout_.keep.push_back(std::move(thing)); }

  const CompileOptions& options() const { return options_; }

 private:
  void number_values();
  void count_uses();
  void find_output_roots();
  void find_view_readers();

  std::shared_ptr<const graph::Graph> graph_;
  CompileOptions options_;
  ProgramLayout layout_;
  WeightStore weights_;
  std::vector<int> numbers_;  // by ValueId
  const graph::Node* node_ = nullptr;
};

}  // namespace concord::cpu
