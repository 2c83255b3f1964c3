#include "graph/passes/activation.h"
#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

class Fuser {
 public:
  Fuser(Rewriter& rw, NodeId id) : rw_(rw), root_(id), node_(rw.node(id)) {
    node_.outputs.clear();
    node_.inputs.resize(4);
  }

  bool run() {
    for (std::size_t i = 0; i < 2; ++i) absorb_operand(i);
    while (absorb_user()) {
    }
    if (absorbed_.empty()) return false;
    while (!node_.inputs.back().valid()) node_.inputs.pop_back();
    rw_.replace(root_, std::move(node_), absorbed_);
    return true;
  }

 private:
  bool plain() const {
    return !node_.inputs[2].valid() && !node_.inputs[3].valid() && !node_.attrs.has("activation");
  }

  // Transposes of the last two axes and scalar factors before the product.
  void absorb_operand(std::size_t i) {
    const std::string flag = i == 0 ? "trans_a" : "trans_b";
    for (int step = 0; step < 4; ++step) {
      const ValueId operand = node_.inputs[i];
      const Node* source = rw_.producer(operand);
      if (source == nullptr) return;
      if (source->op == OpKind::transpose && swaps_last_two(source->attrs.integers("perm"))) {
        node_.attrs.set(flag, 1 - node_.attrs.integer(flag, 0));
      } else if (const auto scaled = scaled_by(rw_.graph(), *source);
                 scaled && scaled->base == source->input(0) && rw_.single_use(operand)) {
        node_.attrs.set("alpha", node_.attrs.number("alpha", 1) * scaled->factor);
      } else {
        return;
      }
      absorbed_.push_back(rw_.producer_id(operand));
      node_.inputs[i] = source->input(0);
    }
  }

  bool absorb_user() {
    const ValueId out = rw_.node(root_).output();
    const NodeId user = rw_.only_user(out);
    if (!user.valid() || node_.inputs[3].valid()) return false;
    const Node& next = rw_.node(user);
    if (!same_shape(rw_.graph(), out, next.output()) ||
        rw_.value(out).dtype != rw_.value(next.output()).dtype) {
      return false;
    }
    if (const auto scaled = scaled_by(rw_.graph(), next); scaled && scaled->base == out) {
      if (!plain()) return false;
      node_.attrs.set("alpha", node_.attrs.number("alpha", 1) * scaled->factor);
    } else if (is_binary(&next, BinaryFn::add)) {
      if (!absorb_addition(other_input(next, out))) return false;
    } else if (is_activation(next) && !node_.attrs.has("activation")) {
      node_.attrs.set("activation", next.attrs.text("fn"));
      node_.attrs.set("act_alpha", next.attrs.number("alpha", 0));
      node_.attrs.set("act_beta", next.attrs.number("beta", 0));
    } else {
      return false;
    }
    absorbed_.push_back(root_);
    root_ = user;
    return true;
  }

  // A constant along the last axis is a bias; a whole tensor that is there already a residual.
  bool absorb_addition(ValueId other) {
    const ValueId out = rw_.node(root_).output();
    if (other == out) return false;
    const Value& value = rw_.value(other);
    const auto n = extent(rw_.graph(), out, -1);
    if (value.constant && !node_.inputs[2].valid() && !node_.attrs.has("activation") &&
        value.shape && !value.shape->empty() && n && value.shape->back() == *n &&
        product(*value.shape) == *n) {
      node_.inputs[2] = other;
      if (value.shape->size() > 1) {
        const Tensor t = *value.constant;
        const std::string name = value.name;
        node_.inputs[2] = rw_.add_constant(name, t.reshaped({t.count()}));
      }
      return true;
    }
    if (value.constant || !same_shape(rw_.graph(), other, out)) return false;
    // The product moves to the addition's place, where the other operand is known.
    node_.inputs[3] = other;
    return true;
  }

  Rewriter& rw_;
  NodeId root_;
  Node node_;
  std::vector<NodeId> absorbed_;
};

}  // namespace

int fuse_matmul(Graph& graph, const PassOptions&) {
  Rewriter rw(graph);
  int found = 0;
  for (const NodeId id : rw.order()) {
    if (rw.node(id).removed || rw.node(id).op != OpKind::matmul) continue;
    if (Fuser(rw, id).run()) ++found;
  }
  return found;
}

}  // namespace concord::graph
