#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/executor.h"
#include "backends/state_area.h"
#include "graph/shape_ties.h"

namespace concord {

// The states of a session, see Session::bind_state. Those that the executor keeps lie in an area;
// of the others the tensor that one run wrote is given to the next.
class SessionStates {
 public:
  void bind(const graph::Graph& imported, Executor& executor, const std::string& output,
            const std::string& input);
  void set(const graph::Graph& imported, const std::string& input, const Tensor& value);
  Tensor get(const graph::Graph& imported, const std::string& input) const;
  void reset();

  std::string describe(const graph::Graph& imported) const;

  // What a run is given: the caller's inputs with the states among them. States that have no value
  // yet get their first one.
  std::vector<Tensor> inputs(const graph::Graph& imported, const std::vector<graph::ShapeTie>& ties,
                             std::span<const Tensor> given);
  // Of the states that the executor keeps.
  std::vector<StateArea*> areas();
  // Takes what the run wrote: outputs of states become undefined.
  void take(std::vector<Tensor>& outputs);
  // The run failed: a first value that inputs() made is none.
  void undo();

 private:
  static constexpr int kGrowsNowhere = -1;
  static constexpr int kGrowsSomewhere = -2;  // the shapes do not tell on which axis

  struct State {
    std::size_t input = 0, output = 0;  // numbers in the imported graph
    int axis = kGrowsNowhere;           // on which it grows
    std::unique_ptr<StateArea> area;    // null: its tensor is handed on
    Tensor value;
    std::string reason;   // why it is not kept
    bool is_new = false;  // has its first value from inputs()

    bool is_set() const { return area ? area->is_set() : value.defined(); }
    void assign(const Tensor& tensor);
    void clear();
    Tensor given() const { return area ? area->outline() : value; }
  };

  static int growing_axis(const graph::Value& output, const graph::Value& input);
  std::size_t number_of(const graph::Graph& imported, const std::string& input) const;
  static Tensor first_value(const graph::Value& input, int axis, const Bindings& bindings);

  std::vector<State> states_;
};

}  // namespace concord
