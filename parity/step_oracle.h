#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/reference/oracle.h"
#include "graph/graph.h"
#include "parity/worker.h"

namespace concord::parity {

// The float64 oracle on single steps of a backend's run, fed with what the backend itself had:
// what it finds is the step's own error. Refers to its arguments; `inputs` are the model's.
class StepOracle {
 public:
  StepOracle(const graph::Graph& optimised, const std::map<TapKey, Tensor>& taps,
             const std::vector<Tensor>& inputs);

  // The graph (or body of control flow) and the node of a step; null if there is none.
  const graph::Graph* body(const WorkerStep& step) const;
  const graph::Node& node(const WorkerStep& step) const;

  // The tensor that the backend had for a value: tapped, constant, the model's input, a view of
  // one of these, or what a branch got from outside.
  std::optional<Tensor> find(const graph::Graph& graph, const BodyPath& path,
                             graph::ValueId id) const;
  // What a step wrote, by output; undefined for what was not tapped.
  std::vector<Tensor> results(const WorkerStep& step) const;

  // Operands of a step as the backend had them (rounded where it keeps values in a smaller type
  // than the model's), undefined where omitted; nullopt if one of them is not known, or the step is
  // control flow.
  std::optional<std::vector<Tensor>> operands(const WorkerStep& step) const;
  // Outputs with their spread, at the step's precision; nullopt if the oracle cannot run it alone.
  std::optional<std::vector<reference::OracleValue>> evaluate(
      const WorkerStep& step, const std::vector<Tensor>& operands) const;

  const Bindings& bindings() const { return bindings_; }
  std::optional<Shape> shape_of(const graph::Graph& graph, const BodyPath& path,
                                graph::ValueId id) const;

 private:
  void bind(const graph::Graph& graph, graph::ValueId id, const Tensor& tensor);

  const graph::Graph& optimised_;
  const std::map<TapKey, Tensor>& taps_;
  const std::vector<Tensor>& inputs_;
  Bindings bindings_;
};

}  // namespace concord::parity
