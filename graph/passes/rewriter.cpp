#include "graph/passes/rewriter.h"

#include <algorithm>

#include "graph/error.h"

namespace concord::graph {

Rewriter::Rewriter(Graph& graph) : graph_(graph), old_order_(graph.order()) {
  grow();
  for (const NodeId id : old_order_) {
    for (const ValueId input : graph_.node(id).inputs) {
      if (input.valid()) add_use(input, id);
    }
  }
  for (const ValueId id : graph_.outputs) {
    ++uses_[index(id)];
    is_output_[index(id)] = true;
  }
}

Rewriter::~Rewriter() {
  commit();
}

void Rewriter::grow() {
  uses_.resize(graph_.value_count(), 0);
  is_output_.resize(graph_.value_count(), false);
  users_.resize(graph_.value_count());
  inserted_.resize(graph_.node_count());
}

void Rewriter::commit() {
  if (!changed_order_) return;
  std::vector<NodeId> order;
  order.reserve(graph_.node_count());
  // New nodes may have new ones before them: an explicit stack keeps deep chains off the real one.
  struct Frame {
    NodeId id;
    std::size_t next;
  };
  std::vector<Frame> stack;
  for (const NodeId root : old_order_) {
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& top = stack.back();
      const auto& before = inserted_[index(top.id)];
      if (top.next < before.size()) {
        const NodeId next = before[top.next++];
        stack.push_back({next, 0});
        continue;
      }
      if (!graph_.node(top.id).removed) order.push_back(top.id);
      stack.pop_back();
    }
  }
  graph_.set_order(order);
  old_order_ = std::move(order);
  for (auto& list : inserted_) list.clear();
  changed_order_ = false;
}

const Node* Rewriter::producer(ValueId id) const {
  const NodeId p = producer_id(id);
  return p.valid() ? &graph_.node(p) : nullptr;
}

NodeId Rewriter::producer_id(ValueId id) const {
  return id.valid() ? graph_.value(id).producer : NodeId{};
}

const Node* Rewriter::producer(ValueId id, OpKind op) const {
  const Node* node = producer(id);
  return node != nullptr && node->op == op ? node : nullptr;
}

std::vector<NodeId> Rewriter::users(ValueId id) {
  auto& list = users_[index(id)];
  std::erase_if(list, [&](NodeId user) {
    const Node& n = graph_.node(user);
    return n.removed || std::find(n.inputs.begin(), n.inputs.end(), id) == n.inputs.end();
  });
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

NodeId Rewriter::only_user(ValueId id) {
  if (!single_use(id)) return {};
  const auto list = users(id);
  return list.size() == 1 ? list.front() : NodeId{};
}

void Rewriter::add_use(ValueId id, NodeId user) {
  ++uses_[index(id)];
  users_[index(id)].push_back(user);
}

void Rewriter::drop_use(ValueId id) {
  --uses_[index(id)];
}

ValueId Rewriter::add_value(std::string name, DataType dtype, std::optional<SymShape> shape) {
  const ValueId id = graph_.add_value(std::move(name), dtype, std::move(shape));
  grow();
  return id;
}

ValueId Rewriter::add_constant(std::string name, Tensor tensor) {
  const ValueId id = graph_.add_constant(std::move(name), std::move(tensor));
  grow();
  return id;
}

NodeId Rewriter::insert(Node node, NodeId before) {
  std::vector<Value> old;
  for (const ValueId output : node.outputs) {
    old.push_back(output.valid() ? graph_.value(output) : Value{});
  }
  const NodeId id{static_cast<std::int32_t>(graph_.node_count())};
  std::vector<NodeId> robbed;
  for (const ValueId output : node.outputs) {
    if (!output.valid() || !graph_.value(output).producer.valid()) continue;
    Node& old_producer = graph_.node(graph_.value(output).producer);
    if (old_producer.removed) continue;
    std::replace(old_producer.outputs.begin(), old_producer.outputs.end(), output, ValueId{});
    robbed.push_back(graph_.value(output).producer);
  }
  // add_node appends to the order, which commit rebuilds.
  graph_.add_node(std::move(node));
  grow();
  for (const ValueId input : graph_.node(id).inputs) {
    if (input.valid()) add_use(input, id);
  }
  inserted_[index(before)].push_back(id);
  changed_order_ = true;
  ++changes_;
  for (const NodeId p : robbed) remove_if_unused(p);
  infer(graph_, id);
  for (std::size_t o = 0; o < old.size(); ++o) {
    const ValueId output = graph_.node(id).outputs[o];
    if (!output.valid() || old[o].dtype == DataType::undefined) continue;
    Value& now = graph_.value(output);
    if (now.dtype != old[o].dtype) {
      throw Error(ErrorKind::failed, "internal: a pass changes the type of '" + now.name + "' at " +
                                         describe(graph_.node(id)));
    }
    const bool same_rank =
        old[o].shape && (!now.shape || now.shape->size() == old[o].shape->size());
    if (same_rank) now.shape = old[o].shape;
    if (!now.contents) now.contents = old[o].contents;
  }
  return id;
}

ValueId Rewriter::insert(OpKind op, std::vector<ValueId> inputs, Attributes attrs,
                         const Node& origin, NodeId before) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  node.name = origin.name;
  node.source_op = origin.source_op;
  node.sources = origin.sources;
  node.outputs = {add_value({}, DataType::undefined, std::nullopt)};
  const ValueId output = node.outputs[0];
  insert(std::move(node), before);
  return output;
}

NodeId Rewriter::replace(NodeId root, Node node, const std::vector<NodeId>& absorbed,
                         NodeId place) {
  const Node& old = graph_.node(root);
  if (node.name.empty()) node.name = old.name;
  if (node.source_op.empty()) node.source_op = old.source_op;
  node.sources = old.sources;
  for (const NodeId id : absorbed) add_sources(node, graph_.node(id));
  if (node.outputs.empty()) node.outputs = old.outputs;
  const std::vector<ValueId> inputs = old.inputs;
  graph_.node(root).removed = true;
  for (const ValueId input : inputs) {
    if (input.valid()) drop_use(input);
  }
  changed_order_ = true;
  const NodeId id = insert(std::move(node), place.valid() ? place : root);
  for (const ValueId input : inputs) {
    if (input.valid()) remove_if_unused(producer_id(input));
  }
  return id;
}

bool Rewriter::redirect(ValueId from, ValueId to) {
  if (from == to) return true;
  if (is_output(from)) {
    // The output keeps its value: the producer of `to` writes it.
    const NodeId p = producer_id(to);
    if (!p.valid() || is_output(to)) return false;
    for (const NodeId user : users(to)) {
      if (graph_.node(user).outputs.size() == 1 && graph_.node(user).outputs[0] == from) continue;
      Node& n = graph_.node(user);
      for (ValueId& input : n.inputs) {
        if (input != to) continue;
        input = from;
        drop_use(to);
        add_use(from, user);
      }
    }
    const NodeId old = producer_id(from);
    if (old.valid()) {
      Node& n = graph_.node(old);
      std::replace(n.outputs.begin(), n.outputs.end(), from, ValueId{});
    }
    Node& n = graph_.node(p);
    std::replace(n.outputs.begin(), n.outputs.end(), to, from);
    graph_.value(from).producer = p;
    graph_.value(to).producer = {};
    if (!graph_.value(from).contents) graph_.value(from).contents = graph_.value(to).contents;
    ++changes_;
    return true;
  }
  for (const NodeId user : users(from)) {
    Node& n = graph_.node(user);
    for (ValueId& input : n.inputs) {
      if (input != from) continue;
      input = to;
      drop_use(from);
      add_use(to, user);
    }
  }
  ++changes_;
  return true;
}

bool Rewriter::bypass(NodeId id, ValueId to) {
  const ValueId from = graph_.node(id).output();
  if (!redirect(from, to)) return false;
  remove(id);
  return true;
}

void Rewriter::set_input(NodeId id, std::size_t i, ValueId to) {
  Node& n = graph_.node(id);
  const ValueId from = n.inputs.at(i);
  if (from == to) return;
  n.inputs[i] = to;
  if (to.valid()) add_use(to, id);
  if (from.valid()) {
    drop_use(from);
    remove_if_unused(producer_id(from));
  }
  ++changes_;
}

bool Rewriter::needed(const Node& node) const {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId output) {
    return output.valid() && graph_.value(output).producer.valid() && uses(output) > 0;
  });
}

void Rewriter::remove(NodeId id) {
  std::vector<NodeId> work{id};
  while (!work.empty()) {
    const NodeId at = work.back();
    work.pop_back();
    Node& gone = graph_.node(at);
    if (gone.removed) continue;
    gone.removed = true;
    changed_order_ = true;
    ++changes_;
    for (const ValueId output : gone.outputs) {
      if (output.valid() && graph_.value(output).producer == at) graph_.value(output).producer = {};
    }
    for (const ValueId input : gone.inputs) {
      if (!input.valid()) continue;
      drop_use(input);
      const NodeId p = producer_id(input);
      if (p.valid() && !needed(graph_.node(p))) work.push_back(p);
    }
  }
}

void Rewriter::remove_if_unused(NodeId id) {
  if (id.valid() && !graph_.node(id).removed && !needed(graph_.node(id))) remove(id);
}

void Rewriter::make_constant(ValueId id, Tensor tensor) {
  const NodeId p = producer_id(id);
  Value& v = graph_.value(id);
  v.producer = {};
  v.shape = SymShape(tensor.shape().begin(), tensor.shape().end());
  v.constant = std::move(tensor);
  if (p.valid()) {
    Node& n = graph_.node(p);
    std::replace(n.outputs.begin(), n.outputs.end(), id, ValueId{});
    remove_if_unused(p);
  }
  ++changes_;
}

int rewrite_each(Graph& graph, bool (*rewrite)(Rewriter& rw, NodeId id)) {
  Rewriter rw(graph);
  int found = 0;
  for (const NodeId id : rw.order()) {
    if (!rw.node(id).removed && rewrite(rw, id)) ++found;
  }
  return found;
}

void add_sources(Node& node, const Node& more) {
  node.sources.insert(node.sources.end(), more.sources.begin(), more.sources.end());
  std::sort(node.sources.begin(), node.sources.end());
  node.sources.erase(std::unique(node.sources.begin(), node.sources.end()), node.sources.end());
}

}  // namespace concord::graph
