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

// A model on a backend. Movable; run() may be called by many threads at once (where states are
// bound, runs take turns).
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
  // the model's order. Of states, inputs are not given and outputs come back undefined.
  std::vector<Tensor> run(const std::map<std::string, Tensor>& inputs,
                          const RunOptions& options = {});
  std::vector<Tensor> run(std::span<const Tensor> inputs, const RunOptions& options = {});

  // Makes the input a state: what a run writes to `output` is what the next one reads as `input`,
  // and the caller handles neither (a decoder's cache). It is kept in place, so that growing is
  // writing only what is new, where the backend can; else its tensor is handed on. Results are the
  // same bit for bit; describe() tells which. Before the first run; Error(usage) if the two do not
  // fit together or one of them is bound already.
  void bind_state(const std::string& output, const std::string& input);
  // A state starts as zeros, with extent 0 along the axis on which it grows. Other extents are
  // those of the inputs beside it. This copies a tensor into it (a prompt's cache, beams in another
  // order).
  void set_state(const std::string& input, const Tensor& value);
  // A copy of what the next run would read; undefined before the first run if it was not set.
  Tensor state(const std::string& input) const;
  // All states as before the first run. A run that fails leaves what it found, but for positions
  // that the model writes anew (a scatter's, GroupQueryAttention's) in a state kept in place.
  void reset_states();

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
