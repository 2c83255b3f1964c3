#include "graph/passes/list.h"
#include "graph/passes/product_epilogue.h"

namespace concord::graph {
namespace {

class Fuser {
 public:
  Fuser(Rewriter& rw, NodeId id) : rw_(rw), product_(rw, id, 2, 3) {}

  bool run() {
    for (std::size_t i = 0; i < 2; ++i) absorb_operand(i);
    while (absorb_user()) {
    }
    return product_.finish();
  }

 private:
  // Transposes of the last two axes and scalar factors before the product.
  void absorb_operand(std::size_t i) {
    const std::string flag = i == 0 ? "trans_a" : "trans_b";
    Node& node = product_.node;
    for (int step = 0; step < 4; ++step) {
      const ValueId operand = node.inputs[i];
      const Node* source = rw_.producer(operand);
      if (source == nullptr) return;
      if (source->op == OpKind::transpose && swaps_last_two(source->attrs.integers("perm"))) {
        node.attrs.set(flag, 1 - node.attrs.integer(flag, 0));
      } else if (const auto scaled = scaled_by(rw_.graph(), *source);
                 scaled && scaled->base == source->input(0) && rw_.single_use(operand)) {
        node.attrs.set("alpha", node.attrs.number("alpha", 1) * scaled->factor);
      } else {
        return;
      }
      product_.take_operand(rw_.producer_id(operand));
      node.inputs[i] = source->input(0);
    }
  }

  bool absorb_user() {
    const NodeId user = product_.next();
    if (!user.valid()) return false;
    const auto scaled = scaled_by(rw_.graph(), rw_.node(user));
    if (!scaled || scaled->base != rw_.node(product_.root()).output()) {
      return product_.absorb(user);
    }
    if (!product_.plain()) return false;
    Attributes& attrs = product_.node.attrs;
    attrs.set("alpha", attrs.number("alpha", 1) * scaled->factor);
    product_.take(user);
    return true;
  }

  Rewriter& rw_;
  ProductEpilogue product_;
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
