#include <algorithm>
#include <cmath>

#include "graph/passes/attention_mask.h"
#include "graph/passes/attention_operands.h"
#include "graph/passes/list.h"

namespace concord::graph {
namespace {

bool is_plain_product(const Node& node) {
  return node.op == OpKind::matmul && !node.has_input(2) && !node.has_input(3) &&
         !node.attrs.has("activation");
}

// The softmax behind a value: through a cast back to a 16-bit type, and the replacement of NaN that
// exporters write for rows that see nothing.
struct Probabilities {
  ValueId softmax;  // its output
  bool nan_to_zero = false;
  std::vector<NodeId> absorbed;
};

std::optional<Probabilities> read_probabilities(const Rewriter& rw, ValueId id) {
  Probabilities p;
  for (int step = 0; step < 4; ++step) {
    const Node* node = rw.producer(id);
    if (node == nullptr) return std::nullopt;
    if (node->op == OpKind::softmax) {
      const auto rank = rank_of(rw.graph(), id);
      if (!rank || node->attrs.integer("axis") != *rank - 1 || node->attrs.integer("log", 0) != 0) {
        return std::nullopt;
      }
      p.softmax = id;
      p.nan_to_zero = p.nan_to_zero || node->attrs.integer("nan_to_zero", 0) != 0;
      return p;
    }
    p.absorbed.push_back(rw.producer_id(id));
    if (node->op == OpKind::cast) {
      if (!rw.single_use(id)) return std::nullopt;
      id = node->input(0);
      continue;
    }
    if (node->op != OpKind::select || !rw.single_use(id)) return std::nullopt;
    const Node* test = unary_producer(rw, node->input(0), UnaryFn::is_nan);
    if (test == nullptr || test->input(0) != node->input(2) ||
        scalar_constant(rw.graph(), node->input(1)) != 0.0) {
      return std::nullopt;
    }
    p.absorbed.push_back(rw.producer_id(node->input(0)));
    p.nan_to_zero = true;
    id = node->input(2);
  }
  return std::nullopt;
}

class Fuser {
 public:
  Fuser(Rewriter& rw, NodeId id) : rw_(rw), root_(id), origin_(rw.node(id)) {}

  bool run() {
    if (!is_plain_product(origin_) || rank_of(rw_.graph(), origin_.output()) != 4) return false;
    if (origin_.attrs.integer("trans_a", 0) != 0) return false;
    const auto p = read_probabilities(rw_, origin_.input(0));
    if (!p) return false;
    const Node softmax = *rw_.producer(p->softmax);
    // The probabilities vanish: what reads them besides is the test for NaN only.
    for (const NodeId user : rw_.users(p->softmax)) {
      const bool known = user == root_ || std::find(p->absorbed.begin(), p->absorbed.end(), user) !=
                                              p->absorbed.end();
      if (!known) return false;
    }
    if (rw_.is_output(p->softmax) || rw_.is_output(origin_.input(0))) return false;
    const auto scores = read_scores(rw_, softmax.input(0), origin_, root_);
    if (!scores) return false;
    const Node product = *rw_.producer(scores->product);
    if (!is_plain_product(product) || !rw_.single_use(scores->product) ||
        product.attrs.integer("trans_a", 0) != 0) {
      return false;
    }
    absorbed_ = p->absorbed;
    absorbed_.push_back(rw_.producer_id(p->softmax));
    absorbed_.insert(absorbed_.end(), scores->absorbed.begin(), scores->absorbed.end());
    absorbed_.push_back(rw_.producer_id(scores->product));
    if (!choose_operands(product)) return false;

    Node node;
    node.op = OpKind::attention;
    node.inputs = {q_.source, k_.source, v_.source};
    for (const ValueId mask : scores->masks) {
      if (rank_of(rw_.graph(), mask).value_or(5) > 4) return false;
    }
    const SymShape extents = *rw_.value(scores->product).shape;
    const AttentionMask mask = join_masks(rw_, scores->masks, extents[2], extents[3],
                                          rw_.value(origin_.output()).dtype, origin_, root_);
    if (mask.mask.valid()) node.inputs.push_back(mask.mask);
    absorbed_.insert(absorbed_.end(), mask.absorbed.begin(), mask.absorbed.end());
    const double scale = scores->scale * softmax.attrs.number("scale", 1) * q_.factor * k_.factor *
                         product.attrs.number("alpha", 1);
    const DataType computed = rw_.value(p->softmax).dtype;
    node.attrs = Attributes{
        {"q_layout", q_.layout},
        {"k_layout", k_.layout},
        {"v_layout", v_.layout},
        {"y_layout", std::string("bhsd")},
        {"scale", scale},
        {"causal", mask.causal},
        {"window", mask.window},
        {"softcap", std::abs(scores->softcap)},
        {"nan_to_zero", std::int64_t{p->nan_to_zero ? 1 : 0}},
        {"softmax_precision",
         computed == rw_.value(origin_.output()).dtype ? DataType::undefined : computed}};
    absorb_output_transpose(node);
    for (const HeadOperand* operand : {&q_, &k_, &v_}) {
      absorbed_.insert(absorbed_.end(), operand->absorbed.begin(), operand->absorbed.end());
    }
    if (!after_.valid()) {
      rw_.replace(root_, std::move(node), absorbed_);
      return true;
    }
    const ValueId y = rw_.add_value({}, DataType::undefined, std::nullopt);
    if (const auto& equals = rw_.value(origin_.output()).equals;
        equals && equals->perm.empty() && !equals->reshaped) {
      rw_.graph().value(y).equals = Equivalence{equals->imported, {0, 2, 1, 3}, false};
    }
    node.outputs = {y};
    node.name = origin_.name;
    node.source_op = origin_.source_op;
    node.sources = origin_.sources;
    for (const NodeId id : absorbed_) add_sources(node, rw_.node(id));
    rw_.insert(std::move(node), root_);
    Node transpose;
    transpose.op = OpKind::transpose;
    transpose.inputs = {y};
    transpose.attrs.set("perm", rest_);
    rw_.replace(after_, std::move(transpose), {});
    return true;
  }

 private:
  bool choose_operands(const Node& product) {
    const bool k_transposed = product.attrs.integer("trans_b", 0) == 0;
    const bool v_transposed = origin_.attrs.integer("trans_b", 0) != 0;
    const std::vector<std::string> rows{"bhsd", "bshd"};
    const std::vector<std::string> keys{"bhsd", "bshd", "bhds"};
    q_ = head_operand(rw_, product.input(0), "bhsd", rows, false);
    for (const bool grouped : {true, false}) {
      k_ = head_operand(rw_, product.input(1), k_transposed ? "bhds" : "bhsd", keys, grouped);
      v_ = head_operand(rw_, origin_.input(1), v_transposed ? "bhds" : "bhsd", rows, grouped);
      if (!q_.source.valid() || !k_.source.valid() || !v_.source.valid()) return false;
      if (v_.factor * origin_.attrs.number("alpha", 1) != 1) return false;
      if (k_.heads == v_.heads && types_fit() && batches_fit()) return true;
    }
    return false;
  }

  bool types_fit() const {
    const DataType type = rw_.value(origin_.output()).dtype;
    return rw_.value(q_.source).dtype == type && rw_.value(k_.source).dtype == type &&
           rw_.value(v_.source).dtype == type;
  }

  // Batches are those of q; keys of one batch for all are not repeated.
  bool batches_fit() const {
    const Dim q = (*rw_.value(q_.source).shape)[0];
    return (*rw_.value(k_.source).shape)[0] == q && (*rw_.value(v_.source).shape)[0] == q;
  }

  void absorb_output_transpose(Node& node) {
    const NodeId user = rw_.only_user(origin_.output());
    if (!user.valid() || rw_.node(user).op != OpKind::transpose) return;
    const auto perm = rw_.node(user).attrs.integers("perm");
    const std::vector<std::int64_t> swap{0, 2, 1, 3};
    if (perm == swap) {
      absorbed_.push_back(root_);
      root_ = user;
      node.attrs.set("y_layout", std::string("bshd"));
      return;
    }
    // Heads beside their elements: the rest of the transpose moves whole rows.
    if (perm[2] != 1 || perm[3] != 3) return;
    node.attrs.set("y_layout", std::string("bshd"));
    for (const std::int64_t p : perm) rest_.push_back(swap[static_cast<std::size_t>(p)]);
    after_ = user;
  }

  Rewriter& rw_;
  NodeId root_;
  const Node origin_;
  HeadOperand q_;
  HeadOperand k_;
  HeadOperand v_;
  std::vector<NodeId> absorbed_;
  std::vector<std::int64_t> rest_;  // what is left of a transpose behind, which `after_` was
  NodeId after_;
};

// An attention that the importer made: transposes around it become layouts, and repeated heads
// grouped ones.
bool absorb_layouts(Rewriter& rw, NodeId id) {
  const Node old = rw.node(id);
  const std::vector<std::string> rows{"bhsd", "bshd"};
  const std::vector<std::string> keys{"bhsd", "bshd", "bhds"};
  if (rank_of(rw.graph(), old.output()) != 4) return false;
  const auto operand = [&](std::size_t i, const char* name, const std::vector<std::string>& allowed,
                           bool grouped) {
    HeadOperand h = head_operand(rw, old.input(i), old.attrs.text(name), allowed, grouped);
    return h;
  };
  HeadOperand q = operand(0, "q_layout", rows, false);
  HeadOperand k = operand(1, "k_layout", keys, true);
  HeadOperand v = operand(2, "v_layout", rows, true);
  const auto fits = [&] {
    return q.source.valid() && k.source.valid() && v.source.valid() && k.heads == v.heads &&
           v.factor == 1;
  };
  if (!fits()) {
    k = operand(1, "k_layout", keys, false);
    v = operand(2, "v_layout", rows, false);
  }
  if (!fits()) return false;
  Node node = old;
  node.outputs.clear();
  node.inputs[0] = q.source;
  node.inputs[1] = k.source;
  node.inputs[2] = v.source;
  node.attrs.set("q_layout", q.layout);
  node.attrs.set("k_layout", k.layout);
  node.attrs.set("v_layout", v.layout);
  node.attrs.set("scale", old.attrs.number("scale") * q.factor * k.factor);
  std::vector<NodeId> absorbed;
  for (const HeadOperand* h : {&q, &k, &v}) {
    absorbed.insert(absorbed.end(), h->absorbed.begin(), h->absorbed.end());
  }
  NodeId root = id;
  const NodeId user = rw.only_user(old.output());
  if (old.attrs.text("y_layout") == "bhsd" && user.valid() &&
      rw.node(user).op == OpKind::transpose &&
      rw.node(user).attrs.integers("perm") == std::vector<std::int64_t>{0, 2, 1, 3}) {
    absorbed.push_back(id);
    root = user;
    node.attrs.set("y_layout", std::string("bshd"));
  }
  if (const ValueId mask = old.input(3); mask.valid() && !old.has_input(4) &&
                                         old.attrs.text("causal") == "none" &&
                                         old.attrs.integer("window") < 0) {
    const Dim t = (*rw.value(k.source).shape)[k.layout.find('s')];
    const Dim s = (*rw.value(q.source).shape)[q.layout.find('s')];
    const AttentionMask joined =
        join_masks(rw, {mask}, s, t, rw.value(old.output()).dtype, old, id);
    if (joined.mask != mask) {
      node.inputs[3] = joined.mask;
      if (!joined.mask.valid()) node.inputs.pop_back();
      node.attrs.set("causal", joined.causal);
      node.attrs.set("window", joined.window);
      absorbed.insert(absorbed.end(), joined.absorbed.begin(), joined.absorbed.end());
      absorbed.push_back(id);
    }
  }
  if (absorbed.empty()) return false;
  rw.replace(root, std::move(node), absorbed);
  return true;
}

}  // namespace

int fuse_attention(Graph& graph, const PassOptions& options) {
  int found = 0;
  {
    Rewriter rw(graph);
    for (const NodeId id : rw.order()) {
      if (rw.node(id).removed) continue;
      if (rw.node(id).op == OpKind::matmul && Fuser(rw, id).run()) ++found;
      if (rw.node(id).op == OpKind::attention && absorb_layouts(rw, id)) ++found;
    }
  }
  if (found == 0) {
    // Masks that were written for an attention that was none after all.
    remove_dead(graph, options);
    return 0;
  }
  // Masks that were joined for each layer are computed once; what they replace goes; transposes
  // that came free sink.
  if (!options.disabled.contains("remove_duplicates")) remove_duplicates(graph, options);
  if (!options.disabled.contains("simplify")) simplify(graph, options);
  remove_dead(graph, options);
  return found;
}

}  // namespace concord::graph
