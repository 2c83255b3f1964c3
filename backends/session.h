#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/spec.h"
#include "graph/graph.h"

namespace concord {

struct SessionOptions {
  bool allow_fallback = true;  // false: a node that must fall back is Error(unsupported)
  std::set<std::string> disabled_passes;
  std::function<void(const std::string&)> log;  // one line per message; null: stderr, once
};

// A node that does not run on the session's backend.
struct Fallback {
  graph::NodeId node;
  std::string name;  // ONNX node name
  std::string op;    // ONNX operator
  std::string reason;
  bool by_nature = false;  // the host's by nature: feeds only shapes, axes or branches, or strings
};

// One step of a run, in order, over all parts of the session.
struct SessionStep {
  StepInfo info;
  std::string backend;  // who ran it
  // The body that info.node belongs to: node and body index, outermost first; empty for the model's
  // own graph.
  std::vector<std::pair<int, int>> path;
  double ms = 0;
};

struct RunOptions {
  TapSink* taps = nullptr;
  std::vector<SessionStep>* steps = nullptr;  // filled with times if wanted
  double* transfer_ms = nullptr;              // added to, see RunArgs
  std::vector<std::pair<int, int>> path;      // of the body that runs, see SessionStep
};

// Checks number, types and shapes of a model's inputs; Error(usage) tells what the model wants.
void check_inputs(const graph::Graph& graph, std::span<const Tensor> inputs);

// The optimised copy that a session on this spec makes: the imported graph itself for an
// interpreter
// (`spec.backend` "reference").
std::shared_ptr<const graph::Graph> optimise_for(std::shared_ptr<const graph::Graph> imported,
                                                 const BackendSpec& spec,
                                                 const std::set<std::string>& disabled_passes);

// A model on a backend. Movable; run() may be called by many threads at once.
class Session {
 public:
  // Optimises a copy of `imported`, splits it into parts by backend, compiles them.
  Session(std::shared_ptr<const graph::Graph> imported, const BackendSpec& spec,
          const SessionOptions& options = {});
  Session(std::shared_ptr<const graph::Graph> imported, const std::string& spec)
      : Session(std::move(imported), parse_spec(spec)) {}
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Checks names, types and shapes (Error(usage) tells what the model wants) and runs. Outputs in
  // the model's order.
  std::vector<Tensor> run(const std::map<std::string, Tensor>& inputs,
                          const RunOptions& options = {});
  std::vector<Tensor> run(std::span<const Tensor> inputs, const RunOptions& options = {});

  // Makes the plans for these extents without running, where no extent depends on data.
  void prepare(const Bindings& bindings);

  const graph::Graph& imported() const;
  const graph::Graph& optimised() const;
  const std::vector<Fallback>& fallbacks() const;
  Backend& backend() const;
  const BackendSpec& spec() const;
  MemoryUse memory() const;  // of the plans used last
  std::string describe() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace concord
