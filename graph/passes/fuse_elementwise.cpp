#include <algorithm>
#include <map>

#include "graph/elementwise_program.h"
#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

constexpr std::size_t kMaxInstructions = 24;

bool chain_type(DataType type) {
  return type == DataType::f32 || type == DataType::f64 || type == DataType::f16 ||
         type == DataType::bf16;
}

// Whether the node computes in one float type, but for conditions.
bool fusible(const Rewriter& rw, const Node& node, DataType type) {
  if (node.op != OpKind::unary && node.op != OpKind::binary && node.op != OpKind::select) {
    return false;
  }
  for (const ValueId input : node.inputs) {
    const DataType t = rw.value(input).dtype;
    if (t != type && t != DataType::boolean) return false;
  }
  const DataType made = rw.value(node.output()).dtype;
  if (made != type && made != DataType::boolean) return false;
  switch (node.op) {
    case OpKind::unary:
      return unary_fn(&node) != UnaryFn::bit_not;
    case OpKind::select:
      return made == type;
    case OpKind::binary:
      switch (*binary_fn(&node)) {
        case BinaryFn::bit_and:
        case BinaryFn::bit_or:
        case BinaryFn::bit_xor:
        case BinaryFn::shift_left:
        case BinaryFn::shift_right:
        case BinaryFn::mod:
          return false;
        default:
          return true;
      }
    default:
      return false;
  }
}

class Chain {
 public:
  Chain(Rewriter& rw, NodeId root, const std::map<NodeId, std::size_t>& position,
        std::size_t most_operands)
      : rw_(rw), root_(root), position_(position), most_operands_(most_operands), members_{root} {
    type_ = rw.value(rw.node(root).output()).dtype;
  }

  // Takes in the quantising of what the chain gives, if nothing else reads that.
  void quantise() {
    const ValueId result = rw_.node(root_).output();
    if (type_ != DataType::f32 || !rw_.single_use(result)) return;
    const NodeId reader = rw_.only_user(result);
    const Node& node = rw_.node(reader);
    if (node.op != OpKind::quantize || node.input(0) != result) return;
    const auto found = quantisation_of(rw_, node);
    const DataType to = rw_.value(node.output()).dtype;
    if (!found || (to != DataType::i8 && to != DataType::u8)) return;
    quantised_ = QuantisedResult{to, found->scale, static_cast<std::int64_t>(found->zero)};
    quantize_ = reader;
  }

  // Takes in producers whose results nothing outside needs, while the limits allow.
  void grow() {
    for (bool more = true; more;) {
      more = false;
      for (const ValueId input : operands()) {
        const NodeId p = rw_.producer_id(input);
        if (!p.valid() || !position_.contains(p) || !absorbable(p, input)) continue;
        members_.push_back(p);
        if (operands().size() > most_operands_ || members_.size() > kMaxInstructions) {
          members_.pop_back();
          refused_.push_back(p);
          continue;
        }
        more = true;
        break;
      }
    }
  }

  std::size_t size() const { return members_.size() + (quantised_ ? 1 : 0); }

  void replace() {
    std::vector<NodeId> order = members_;
    std::sort(order.begin(), order.end(),
              [&](NodeId a, NodeId b) { return position_.at(a) < position_.at(b); });
    Node node;
    node.op = OpKind::elementwise;
    node.inputs = operands();
    ElementwiseProgram program;
    program.inputs = static_cast<int>(node.inputs.size());
    std::map<ValueId, int> reg;
    for (const ValueId input : node.inputs) reg.emplace(input, static_cast<int>(reg.size()));
    for (const NodeId id : order) {
      const Node& step = rw_.node(id);
      ElementwiseInstr instr;
      instr.a = reg.at(step.input(0));
      if (step.op == OpKind::unary) {
        instr.kind = ElementwiseInstr::Kind::unary;
        instr.unary = *unary_fn(&step);
        instr.alpha = step.attrs.number("alpha", 0);
        instr.beta = step.attrs.number("beta", 0);
      } else if (step.op == OpKind::binary) {
        instr.kind = ElementwiseInstr::Kind::binary;
        instr.binary = *binary_fn(&step);
        instr.b = reg.at(step.input(1));
      } else {
        instr.kind = ElementwiseInstr::Kind::select;
        instr.b = reg.at(step.input(1));
        instr.c = reg.at(step.input(2));
      }
      reg[step.output()] = program.inputs + static_cast<int>(program.code.size());
      program.code.push_back(instr);
    }
    program.quantised = quantised_;
    store(program, node.attrs);
    rw_.replace(quantised_ ? quantize_ : root_, std::move(node), members_);
  }

 private:
  bool is_member(NodeId id) const {
    return std::find(members_.begin(), members_.end(), id) != members_.end();
  }

  // What members read and no member makes, in order.
  std::vector<ValueId> operands() const {
    std::vector<ValueId> result;
    for (const NodeId id : members_) {
      for (const ValueId input : rw_.node(id).inputs) {
        const NodeId p = rw_.producer_id(input);
        if (p.valid() && is_member(p)) continue;
        if (std::find(result.begin(), result.end(), input) == result.end()) result.push_back(input);
      }
    }
    return result;
  }

  bool absorbable(NodeId id, ValueId value) {
    if (std::find(refused_.begin(), refused_.end(), id) != refused_.end()) return false;
    const Node& node = rw_.node(id);
    // One that is repeated along an axis would be computed again for each element.
    const bool fits = fusible(rw_, node, type_) && !rw_.is_output(value) &&
                      same_shape(rw_.graph(), value, rw_.node(root_).output());
    if (!fits) return false;
    const auto users = rw_.users(value);
    return std::all_of(users.begin(), users.end(), [&](NodeId user) { return is_member(user); });
  }

  Rewriter& rw_;
  NodeId root_;
  const std::map<NodeId, std::size_t>& position_;
  std::size_t most_operands_;
  std::vector<NodeId> members_;
  std::vector<NodeId> refused_;
  DataType type_{};
  std::optional<QuantisedResult> quantised_;
  NodeId quantize_;
};

}  // namespace

int fuse_elementwise(Graph& graph, const PassOptions& options) {
  Rewriter rw(graph);
  std::map<NodeId, std::size_t> position;
  for (const NodeId id : rw.order()) position.emplace(id, position.size());
  int found = 0;
  // From the back, so that chains begin at their last operator.
  for (auto it = rw.order().rbegin(); it != rw.order().rend(); ++it) {
    const Node& node = rw.node(*it);
    if (node.removed || node.outputs.size() != 1) continue;
    const DataType type = rw.value(node.output()).dtype;
    if (!chain_type(type) || !rw.value(node.output()).shape || !fusible(rw, node, type)) continue;
    Chain chain(rw, *it, position, options.chain_operands);
    chain.grow();
    if (options.quantised_products) chain.quantise();
    if (chain.size() < 2) continue;
    chain.replace();
    ++found;
  }
  return found;
}

}  // namespace concord::graph
