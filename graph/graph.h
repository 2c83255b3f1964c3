#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.h"
#include "graph/dim.h"
#include "graph/dtype.h"
#include "graph/tensor.h"

namespace concord::graph {

enum class OpKind : std::uint8_t {
#define CONCORD_OP(name) name,
#include "graph/ops.def"
#undef CONCORD_OP
};
std::string_view to_string(OpKind op);
std::optional<OpKind> parse_op(std::string_view name);
constexpr std::size_t kOpCount = 0
#define CONCORD_OP(name) +1
#include "graph/ops.def"
#undef CONCORD_OP
    ;

// Ids index a graph's values and nodes and stay valid for its life: nothing is renumbered, a
// removed node only leaves the order. A copy of a graph has the same ids, so an optimised graph and
// the imported one that it was copied from speak of the same values.
struct ValueId {
  std::int32_t index = -1;
  bool valid() const { return index >= 0; }
  friend bool operator==(ValueId, ValueId) = default;
  friend auto operator<=>(ValueId, ValueId) = default;
};
struct NodeId {
  std::int32_t index = -1;
  bool valid() const { return index >= 0; }
  friend bool operator==(NodeId, NodeId) = default;
  friend auto operator<=>(NodeId, NodeId) = default;
};

// Which imported value this one equals, in the graph before the passes.
struct Equivalence {
  ValueId imported;
  std::vector<std::int64_t> perm;  // this = transpose(imported, perm); empty: no permutation
  bool reshaped = false;           // then reshaped to this value's shape
};

struct Value {
  std::string name;
  DataType dtype = DataType::undefined;
  std::optional<SymShape> shape;  // nullopt: the rank is not known
  // Elements of a small integer or bool tensor (or a float one of whole numbers), flattened, where
  // they are known as constants or expressions over the model's symbols.
  std::optional<std::vector<Dim>> contents;
  std::optional<Tensor> constant;  // initialisers and folded values
  NodeId producer;                 // invalid for graph inputs and constants
  std::optional<Equivalence> equals;

  bool is_constant() const { return constant.has_value(); }
};

class Graph;

struct Node {
  OpKind op{};
  std::vector<ValueId> inputs;  // invalid ids: omitted
  std::vector<ValueId> outputs;
  Attributes attrs;
  std::vector<Graph> bodies;    // control flow; outer values arrive as explicit inputs
  std::string name;             // of the imported ONNX node, for messages
  std::string source_op;        // ONNX operator it came from ("MatMul", "com.microsoft.Attention")
  std::vector<NodeId> sources;  // imported nodes that it replaces; itself at import
  bool removed = false;

  ValueId input(std::size_t i) const { return i < inputs.size() ? inputs[i] : ValueId{}; }
  bool has_input(std::size_t i) const { return input(i).valid(); }
  ValueId output(std::size_t i = 0) const { return i < outputs.size() ? outputs[i] : ValueId{}; }
};

// A typed dataflow graph over the core operators. Copies by value; weights are shared.
class Graph {
 public:
  std::string name;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  ValueId add_value(Value value);
  // A value with a name, type and (optionally) shape.
  ValueId add_value(std::string value_name, DataType dtype, std::optional<SymShape> shape = {});
  ValueId add_constant(std::string value_name, Tensor tensor);
  // Adds the node at the end of the order, or before `before`, and makes it its outputs' producer.
  // A node without sources counts as imported: its own source.
  NodeId add_node(Node node, NodeId before = {});
  void remove_node(NodeId id);
  // Ids of removed nodes are not given again.

  const Value& value(ValueId id) const { return values_.at(static_cast<std::size_t>(id.index)); }
  Value& value(ValueId id) { return values_.at(static_cast<std::size_t>(id.index)); }
  const Node& node(NodeId id) const { return nodes_.at(static_cast<std::size_t>(id.index)); }
  Node& node(NodeId id) { return nodes_.at(static_cast<std::size_t>(id.index)); }
  std::size_t value_count() const { return values_.size(); }
  std::size_t node_count() const { return nodes_.size(); }  // removed ones included
  // Live nodes in a topological order.
  const std::vector<NodeId>& order() const { return order_; }
  void set_order(std::vector<NodeId> order) { order_ = std::move(order); }
  // Sorts the order topologically (stable); throws Error(invalid) naming a node on a cycle.
  void sort();

  // Nodes that read each value, in order, once per node; index by ValueId. Computed afresh.
  std::vector<std::vector<NodeId>> users() const;
  bool is_output(ValueId id) const;
  bool is_input(ValueId id) const;
  std::optional<ValueId> find_value(std::string_view value_name) const;

  // Symbols in the shapes of the graph's inputs.
  std::vector<std::string> input_symbols() const;

 private:
  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<NodeId> order_;
};

// A copy that computes only `nodes` (a subset of the order), with the given inputs and outputs; ids
// are kept.
Graph subgraph(const Graph& graph, std::vector<NodeId> nodes, std::vector<ValueId> inputs,
               std::vector<ValueId> outputs);

// "node 'encoder/layer.0/MatMul' (MatMul)": how messages name a node.
std::string describe(const Node& node);

// Checks the invariants: ids in range, one producer each, topological order, types and arity of the
// schemas, provenance. Throws Error(invalid) naming the node.
void verify(const Graph& graph);

// A stable text form: inputs, nodes with types, shapes and attributes, outputs.
std::string dump(const Graph& graph);

}  // namespace concord::graph
