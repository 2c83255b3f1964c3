#include "parity/oracle_pass.h"

#include <cmath>
#include <limits>

#include "backends/reference/evaluate_graph.h"
#include "graph/error.h"
#include "parity/bodies.h"

namespace concord::parity {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

// Infinity where the declared type has no number so large.
Tensor bounded(const reference::OracleValue& value) {
  if (!value.overflow) return value.value;
  const Tensor rounded = value.rounded();
  Tensor result = value.value.clone();
  std::span<double> elements = result.as_mutable<double>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double stored = rounded.at_double(static_cast<std::int64_t>(i));
    if (std::isinf(stored)) elements[i] = stored;
  }
  return result;
}

std::string text_of(const StepPrecision& p) {
  return std::string(to_string(p.operand)) + "/" + std::string(to_string(p.accumulate)) + "/" +
         std::string(to_string(p.store)) + (p.tf32 ? "/tf32" : "");
}

// Of floats, and of those in containers.
class RmsOfDifference {
 public:
  void add(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || a.shape() != b.shape()) return;
    if (is_container(a.dtype())) {
      for (std::size_t i = 0; i < a.items().size(); ++i) add(a.items()[i], b.items()[i]);
    }
    if (!is_float(a.dtype())) return;
    for (std::int64_t i = 0; i < a.count(); ++i) {
      const double d = a.at_double(i) - b.at_double(i);
      if (!std::isfinite(d)) continue;
      sum_ += d * d;
      ++count_;
    }
  }
  double result() const { return count_ > 0 ? std::sqrt(sum_ / static_cast<double>(count_)) : 0; }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

OraclePass::OraclePass(std::shared_ptr<const Graph> imported, std::vector<Tensor> inputs,
                       std::function<void(double)> progress)
    : imported_(std::move(imported)), inputs_(std::move(inputs)), progress_(std::move(progress)) {}

std::vector<Tensor> OraclePass::run(const ByGraph* precisions, std::uint64_t seed) {
  reference::GraphOptions options;
  if (precisions != nullptr) {
    options.noise = reference::Noise{seed};
    options.precision = [precisions](const Graph& graph, const Node& node) {
      if (const auto g = precisions->find(&graph);
          g != precisions->end() && !node.sources.empty()) {
        const auto n = g->second.find(node.sources.front().index);
        if (n != g->second.end()) return n->second;
      }
      return reference::default_precision(graph, node);
    };
  }
  if (progress_) {
    options.on_progress = [this](std::size_t done, std::size_t total) {
      progress_(static_cast<double>(done) / static_cast<double>(total));
    };
  }
  std::vector<Tensor> outputs;
  for (const reference::OracleValue& value :
       reference::evaluate_graph(*imported_, std::span<const Tensor>(inputs_), {}, options)) {
    outputs.push_back(bounded(value));
  }
  return outputs;
}

const std::vector<Tensor>& OraclePass::outputs() {
  if (!done_) {
    outputs_ = run(nullptr, 0);
    done_ = true;
  }
  return outputs_;
}

const std::vector<double>& OraclePass::noise(const Graph& optimised,
                                             const std::vector<WorkerStep>& steps) {
  ByGraph precisions;
  std::string key;
  for (const WorkerStep& step : steps) {
    const Graph* body = find_body(*imported_, step.path);
    const Graph* mine = find_body(optimised, step.path);
    if (body == nullptr || mine == nullptr) continue;
    for (const NodeId source : mine->node(NodeId{step.node}).sources) {
      precisions[body][source.index] = step.precision;
    }
  }
  for (const auto& [body, nodes] : precisions) {
    for (const auto& [node, precision] : nodes) {
      if (precision == reference::default_precision(*body, body->node(NodeId{node}))) continue;
      key += std::to_string(node) + ":" + text_of(precision) + " ";
    }
  }
  if (const auto it = noise_.find(key); it != noise_.end()) return it->second;
  const std::vector<Tensor>& clean = outputs();
  std::vector<double> squares(clean.size(), 0);
  for (int k = 1; k <= kNoiseRuns; ++k) {
    const std::vector<Tensor> noisy = run(&precisions, static_cast<std::uint64_t>(k));
    for (std::size_t i = 0; i < clean.size(); ++i) {
      RmsOfDifference difference;
      difference.add(noisy[i], clean[i]);
      const double rms = difference.result();
      squares[i] += rms * rms / kNoiseRuns;
    }
  }
  for (double& square : squares) square = std::sqrt(square);
  return noise_.emplace(key, std::move(squares)).first->second;
}

}  // namespace concord::parity
