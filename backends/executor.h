#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/partition.h"
#include "backends/session.h"
#include "graph/shape_ties.h"

namespace concord {

// What the executors of one session share.
struct ExecutorContext {
  std::shared_ptr<Backend> backend;
  std::shared_ptr<Backend> cpu;  // opened when first needed
  std::function<std::shared_ptr<Backend>()> open_cpu;
  CompileOptions options;
  bool allow_fallback = true;
  std::mutex mutex;  // guards cpu

  Backend* cpu_backend();  // null if there is none
};

// Runs one graph (a model, or a body of control flow) part by part. Immutable after construction;
// run() may be called by many threads at once.
class Executor {
 public:
  // A body's extents are checked with each of its runs, the model's own by the session.
  Executor(std::shared_ptr<const graph::Graph> graph, std::shared_ptr<ExecutorContext> context,
           bool is_body = false);
  ~Executor();

  // inputs in the graph's order. `bindings` holds the symbols of outer graphs on entry, `states`
  // those that were kept: of their inputs only the shapes are looked at, their outputs are
  // undefined.
  std::vector<Tensor> run(std::span<const Tensor> inputs, Bindings bindings,
                          const RunOptions& options, std::span<StateArea* const> states = {}) const;
  // Has the part that makes an output from an input, given by their numbers, keep them as one. As
  // Program::keep_state.
  std::optional<std::string> keep_state(std::size_t input, std::size_t output);
  void prepare(const Bindings& bindings) const;

  const graph::Graph& graph() const { return *graph_; }
  // Of this graph and its bodies.
  void collect_fallbacks(std::vector<Fallback>& fallbacks) const;
  MemoryUse memory() const;
  std::string describe(int indent = 0) const;

 private:
  struct Segment;  // a compiled part
  struct Frame {   // one run
    std::vector<Tensor> values;
    Bindings bindings;
    std::span<StateArea* const> states;
  };

  void run_part(std::size_t index, Frame& frame, const RunOptions& options) const;
  void run_segment(const Part& part, const Segment& segment, Frame& frame,
                   const RunOptions& options) const;
  void run_host(const Part& part, Frame& frame, const RunOptions& options) const;
  void run_single(graph::NodeId id, Frame& frame, const RunOptions& options) const;
  void run_if(graph::NodeId id, Frame& frame, const RunOptions& options) const;
  void run_loop(graph::NodeId id, Frame& frame, const RunOptions& options) const;
  void run_scan(graph::NodeId id, Frame& frame, const RunOptions& options) const;
  std::vector<Tensor> run_body(graph::NodeId id, std::size_t which, std::vector<Tensor> inputs,
                               const Frame& frame, const RunOptions& options) const;
  void store(graph::ValueId id, Tensor tensor, Frame& frame, const RunOptions& options) const;
  const Tensor& fetch(graph::ValueId id, const Frame& frame) const;
  // Omitted ones are undefined.
  std::vector<Tensor> operands(const graph::Node& node, const Frame& frame) const;

  std::shared_ptr<const graph::Graph> graph_;
  std::shared_ptr<ExecutorContext> context_;
  Partition partition_;
  std::vector<std::unique_ptr<Segment>> segments_;              // by part; null if not compiled
  std::vector<std::vector<std::unique_ptr<Executor>>> bodies_;  // by node
  std::vector<graph::ShapeTie> dynamic_ties_;  // that the session's inputs cannot tell of
  std::vector<std::size_t> last_use_;          // by value: the part that reads it last
  std::vector<graph::ValueId> kept_outputs_;   // by state
};

}  // namespace concord
