#pragma once

#include <vector>

#include "graph/passes/match.h"

namespace concord::graph {

// A product that takes over what follows it: bias, activation, residual. `node` is the product as
// it becomes, in the place of `root`, the last node that it took over.
class ProductEpilogue {
 public:
  // The inputs `bias_slot` and `residual_slot` of the operator take the operands of additions.
  ProductEpilogue(Rewriter& rw, NodeId product, std::size_t bias_slot, std::size_t residual_slot);

  // The only reader of what has been taken over so far, if it keeps the shape and nothing can
  // follow in between; `same_type`: and the data type.
  NodeId next(bool same_type = true) const;
  // Whether nothing follows the product yet.
  bool plain() const;
  // Takes over the addition of a constant along the last axis (bias) or of a whole tensor
  // (residual), or an activation; false if `user` is none of them.
  bool absorb(NodeId user);
  // Takes over `user`, which the caller has put into `node`.
  void take(NodeId user);
  // Takes over a node before the product.
  void take_operand(NodeId operand) { absorbed_.push_back(operand); }
  // Writes the node into the graph if it took anything over.
  bool finish();

  NodeId root() const { return root_; }
  Node node;

 private:
  bool absorb_addition(ValueId other);

  Rewriter& rw_;
  NodeId root_;
  std::size_t bias_, residual_;
  std::vector<NodeId> absorbed_;
};

}  // namespace concord::graph
