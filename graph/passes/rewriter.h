#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/schema.h"

namespace concord::graph {

// Edits a graph in time linear in what changes: keeps the users of every value, and builds the new
// order once, when it is destroyed (or committed). Nodes of `order()` that were removed meanwhile
// are marked removed.
class Rewriter {
 public:
  explicit Rewriter(Graph& graph);
  ~Rewriter();
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  // The order at construction.
  const std::vector<NodeId>& order() const { return old_order_; }
  const Node& node(NodeId id) const { return graph_.node(id); }
  const Value& value(ValueId id) const { return graph_.value(id); }
  int changes() const { return changes_; }

  // The live node that computes a value; nullptr for inputs and constants.
  const Node* producer(ValueId id) const;
  NodeId producer_id(ValueId id) const;
  // The producer, if it is of this kind.
  const Node* producer(ValueId id, OpKind op) const;

  // Inputs of live nodes and outputs of the graph that are this value.
  int uses(ValueId id) const { return uses_[index(id)]; }
  bool is_output(ValueId id) const { return is_output_[index(id)]; }
  // Read by one node input only, and no output of the graph: it vanishes with its reader.
  bool single_use(ValueId id) const { return uses(id) == 1 && !is_output(id); }
  std::vector<NodeId> users(ValueId id);
  // The only reader of a value with a single use; invalid otherwise.
  NodeId only_user(ValueId id);

  // A value for a new node to write.
  ValueId add_value(std::string name, DataType dtype, std::optional<SymShape> shape);
  ValueId add_constant(std::string name, Tensor tensor);
  // Adds a node before `before` and infers its outputs. Outputs that exist keep their shape if the
  // rank is the same, so that expressions do not drift.
  NodeId insert(Node node, NodeId before);
  // A new one-output node before `before`; returns its output.
  ValueId insert(OpKind op, std::vector<ValueId> inputs, Attributes attrs, const Node& origin,
                 NodeId before);

  // The node takes over the outputs of `root` (or those that it lists) at its place, or before
  // `place`; what only `root` needed dies. Its sources become those of root and of all absorbed
  // nodes.
  NodeId replace(NodeId root, Node node, const std::vector<NodeId>& absorbed, NodeId place = {});

  // Readers of `from` read `to`, which equals it. If `from` is an output of the graph, the producer
  // of `to` writes `from` instead; false if that cannot be (an input, a constant or another
  // output), and nothing changes.
  bool redirect(ValueId from, ValueId to);
  // Redirects the node's only output to `to` and removes it; false if it has to stay.
  bool bypass(NodeId id, ValueId to);
  void set_input(NodeId id, std::size_t i, ValueId to);
  // Removes the node; then producers of its inputs that nothing needs.
  void remove(NodeId id);
  void remove_if_unused(NodeId id);
  // The value becomes a constant and its producer is removed, if it has no other output in use.
  void make_constant(ValueId id, Tensor tensor);

  void commit();

 private:
  static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.index); }
  static std::size_t index(NodeId id) { return static_cast<std::size_t>(id.index); }
  void grow();
  void add_use(ValueId id, NodeId user);
  void drop_use(ValueId id);
  bool needed(const Node& node) const;

  Graph& graph_;
  std::vector<NodeId> old_order_;
  std::vector<int> uses_;
  std::vector<bool> is_output_;
  std::vector<std::vector<NodeId>> users_;     // may hold nodes that no longer read the value
  std::vector<std::vector<NodeId>> inserted_;  // per node: new ones that go before it
  bool changed_order_ = false;
  int changes_ = 0;
};

// Offers each live node of the graph to `rewrite`, in order, and counts those that it took.
int rewrite_each(Graph& graph, bool (*rewrite)(Rewriter& rw, NodeId id));

// Adds the sources of `more` to those of `node`, sorted, each once.
void add_sources(Node& node, const Node& more);

}  // namespace concord::graph
