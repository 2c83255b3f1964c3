#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/ops/elementwise_plan.h"
#include "graph/graph.h"

namespace concord::cpu {

// The activation that an operator (matmul, conv) applies to its sums.
struct ActivationSpec {
  bool present = false;
  graph::UnaryFn fn = graph::UnaryFn::identity;
  double alpha = 0, beta = 0;

  // As a kernel's epilogue, if the kernels have it.
  std::optional<Activation> fused() const;
};
// From the attributes `activation` and the two that hold its parameters.
ActivationSpec activation_of(const graph::Node& node, const char* alpha, const char* beta);
std::optional<std::string> why_not_activation(const ActivationSpec& activation);

// y = activation(x + bias) + residual in place over dense f32 sums; each part may be absent.
class Afterwards {
 public:
  Afterwards(const ActivationSpec& activation, bool bias, bool residual);
  bool empty() const { return program_ == nullptr; }
  void emit(Planner& p, const Dims& shape, Ref sums, const View* bias, const View* residual) const;

 private:
  std::shared_ptr<const ElementProgram> program_;
};

}  // namespace concord::cpu
