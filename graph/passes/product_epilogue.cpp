#include "graph/passes/product_epilogue.h"

#include "graph/passes/activation.h"

namespace concord::graph {

ProductEpilogue::ProductEpilogue(Rewriter& rw, NodeId product, std::size_t bias_slot,
                                 std::size_t residual_slot)
    : node(rw.node(product)), rw_(rw), root_(product), bias_(bias_slot), residual_(residual_slot) {
  node.outputs.clear();
  node.inputs.resize(std::max(bias_, residual_) + 1);
}

bool ProductEpilogue::plain() const {
  return !node.inputs[bias_].valid() && !node.inputs[residual_].valid() &&
         !node.attrs.has("activation");
}

NodeId ProductEpilogue::next(bool same_type) const {
  const ValueId out = rw_.node(root_).output();
  const NodeId user = rw_.only_user(out);
  // The residual comes last.
  if (!user.valid() || node.inputs[residual_].valid()) return {};
  const ValueId result = rw_.node(user).output();
  if (!same_shape(rw_.graph(), out, result)) return {};
  if (same_type && rw_.value(out).dtype != rw_.value(result).dtype) return {};
  return user;
}

bool ProductEpilogue::absorb(NodeId user) {
  const Node& next = rw_.node(user);
  if (is_binary(&next, BinaryFn::add)) {
    if (!absorb_addition(other_input(next, rw_.node(root_).output()))) return false;
  } else if (is_activation(next) && !node.attrs.has("activation")) {
    node.attrs.set("activation", next.attrs.text("fn"));
    node.attrs.set("act_alpha", next.attrs.number("alpha", 0));
    node.attrs.set("act_beta", next.attrs.number("beta", 0));
  } else {
    return false;
  }
  take(user);
  return true;
}

void ProductEpilogue::take(NodeId user) {
  absorbed_.push_back(root_);
  root_ = user;
}

bool ProductEpilogue::finish() {
  if (absorbed_.empty()) return false;
  while (!node.inputs.back().valid()) node.inputs.pop_back();
  rw_.replace(root_, std::move(node), absorbed_);
  return true;
}

bool ProductEpilogue::absorb_addition(ValueId other) {
  const ValueId out = rw_.node(root_).output();
  if (other == out) return false;
  const Value& value = rw_.value(other);
  const auto n = extent(rw_.graph(), out, -1);
  if (value.constant && !node.inputs[bias_].valid() && !node.attrs.has("activation") &&
      value.shape && !value.shape->empty() && n && value.shape->back() == *n &&
      product(*value.shape) == *n) {
    node.inputs[bias_] = other;
    if (value.shape->size() > 1) {
      const Tensor t = *value.constant;
      const std::string name = value.name;
      node.inputs[bias_] = rw_.add_constant(name, t.reshaped({t.count()}));
    }
    return true;
  }
  if (value.constant || !same_shape(rw_.graph(), other, out)) return false;
  // The product moves to the addition's place, where the other operand is known.
  node.inputs[residual_] = other;
  return true;
}

}  // namespace concord::graph
