#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "importer/conversion.h"
#include "importer/importer.h"
#include "importer/node_order.h"
#include "importer/proto_fwd.h"
#include "importer/tensor_reader.h"

namespace concord::importer {

// What a name stands for: a value, a list of values (a sequence whose items are known at import),
// nothing (an omitted argument of a function), or the result of a node that is not supported.
struct Binding {
  graph::ValueId value;
  std::shared_ptr<const std::vector<graph::ValueId>> sequence;
  bool poisoned = false;
  DataType item = DataType::undefined;  // of an empty list
};

// One graph::Graph being built.
struct GraphState {
  graph::Graph& graph;
  // Values named by us so far; the first ONNX name that they get is theirs.
  std::unordered_set<std::int32_t> provisional;
  std::unordered_set<std::string> taken;  // names of values
};

using Opsets = std::map<std::string, std::int64_t>;
using AttributeBindings = std::map<std::string, const onnx::AttributeProto*>;

// Where the names of nodes are looked up: a graph, the body of a called function, or a branch that
// is inlined.
struct Scope {
  GraphState* state = nullptr;
  const Scope* outer = nullptr;  // of an inlined branch
  std::string prefix;            // of value and node names made here
  const Opsets* opsets = nullptr;
  const AttributeBindings* attributes = nullptr;  // of the enclosing function's call
  std::unordered_map<std::string, Binding> names;
  std::unordered_map<std::string, DataType> declared;  // types that the model states
  std::unordered_set<std::string> used;                // names that someone reads
  int calls = 0;                                       // functions around this

  const Binding* find(const std::string& name) const;
  DataType declared_type(const std::string& name) const;
  bool is_used(const std::string& name) const;
};

// Turns one parsed model into a graph of core operators.
class Builder {
 public:
  using Assumptions = std::map<const onnx::NodeProto*, bool>;
  Builder(const onnx::ModelProto& model, TensorReader& tensors, const ImportOptions& options,
          ModelInfo& info, Assumptions assumptions = {});
  graph::Graph build();

  // --- For Conversion
  // -------------------------------------------------------------------------------
  Tensor read_tensor(const onnx::TensorProto& proto) { return tensors_.read(proto); }
  Tensor read_tensor(const onnx::SparseTensorProto& proto) { return tensors_.read(proto); }
  FreeNames& free_names() { return free_; }
  void bind(Scope& scope, const std::string& name, Binding binding);
  std::string unique_name(GraphState& state, const std::string& name);
  // The binding as a value of the graph. A list becomes a sequence; with `wanted` an optional, what
  // is not yet one becomes one.
  ValueId materialise(GraphState& state, const Binding& binding, const std::string& name,
                      DataType wanted = DataType::undefined);
  void oddity(const std::string& sentence);
  graph::Graph build_body(const Scope& scope, const onnx::GraphProto& body,
                          std::span<const Conversion::BodyInput> formals,
                          std::span<const Conversion::Captured> captured);
  std::vector<ValueId> inline_body(Scope& scope, const onnx::GraphProto& body,
                                   const std::string& prefix, std::span<const ValueId> arguments);
  // A branch whose results have another rank than the other's, at a condition that is known only
  // when running: exporters write `squeeze` so. Which branch is assumed to be taken, if one must
  // be.
  std::optional<bool> assumption(const onnx::NodeProto& node) const;
  void note_ambiguous(const onnx::NodeProto& node, bool then_is_narrower);
  // Of the last build that failed.
  const std::vector<std::pair<const onnx::NodeProto*, bool>>& ambiguous() const {
    return ambiguous_;
  }
  // Thrown through a converter whose body holds something unsupported, which has been noted.
  struct Poisoned {};

 private:
  using FunctionKey = std::tuple<std::string, std::string, std::string>;

  void add_initializers(Scope& scope, const onnx::GraphProto& proto);
  void add_inputs(Scope& scope, const onnx::GraphProto& proto);
  void add_declared(Scope& scope, const onnx::GraphProto& proto);
  void add_outputs(Scope& scope, const onnx::GraphProto& proto);
  void convert_nodes(Scope& scope, const std::vector<const onnx::NodeProto*>& nodes);
  void convert_node(Scope& scope, const onnx::NodeProto& node);
  void convert_with(Scope& scope, const onnx::NodeProto& node, std::int64_t opset);
  void call_function(Scope& scope, const onnx::NodeProto& node,
                     const onnx::FunctionProto& function);
  bool reads_poison(const Scope& scope, const onnx::NodeProto& node);
  void poison(Scope& scope, const onnx::NodeProto& node);
  void note_unsupported(const Scope& scope, const onnx::NodeProto& node, const std::string& reason);
  void note_unsupported_bodies(const Scope& scope, const onnx::NodeProto& node);
  std::int64_t opset_of(const Scope& scope, const onnx::NodeProto& node) const;
  const onnx::FunctionProto* function_of(const onnx::NodeProto& node) const;
  SymShape input_shape(const onnx::ValueInfoProto& input);
  void count_operators(const Opsets& opsets, const std::vector<const onnx::NodeProto*>& nodes);

  const onnx::ModelProto& model_;
  TensorReader& tensors_;
  const ImportOptions& options_;
  ModelInfo& info_;
  FreeNames free_;
  Opsets opsets_;
  std::map<FunctionKey, const onnx::FunctionProto*> functions_;
  std::map<const onnx::FunctionProto*, Opsets> function_opsets_;
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::int64_t> operator_uses_;
  std::vector<UnsupportedOperator> unsupported_;
  std::set<std::string> oddities_;
  std::set<std::string> dims_set_;  // of options.dims, those that the model has
  Assumptions assumptions_;
  std::vector<std::pair<const onnx::NodeProto*, bool>> ambiguous_;
  std::int64_t visited_ = 0;
};

}  // namespace concord::importer
