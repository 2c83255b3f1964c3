#include "graph/passes/attention_mask.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "graph/passes/iota.h"

namespace concord::graph {
namespace {

// The value of every element, if they are all the same and known.
std::optional<double> uniform(const Rewriter& rw, ValueId id, int depth = 8) {
  const Value& value = rw.value(id);
  if (value.constant) {
    const Tensor& t = *value.constant;
    if (t.count() == 0 || t.count() > 4096 || t.dtype() == DataType::string) return std::nullopt;
    for (std::int64_t i = 1; i < t.count(); ++i) {
      if (t.at_double(i) != t.at_double(0)) return std::nullopt;
    }
    return t.at_double(0);
  }
  const Node* node = rw.producer(id);
  if (node == nullptr || depth == 0) return std::nullopt;
  switch (node->op) {
    case OpKind::constant_of:
      return node->attrs.tensor("value").at_double(0);
    case OpKind::broadcast:
    case OpKind::reshape:
    case OpKind::transpose:
      return uniform(rw, node->input(0), depth - 1);
    case OpKind::select: {
      const auto condition = uniform(rw, node->input(0), depth - 1);
      if (!condition) return std::nullopt;
      return uniform(rw, node->input(*condition != 0 ? 1 : 2), depth - 1);
    }
    default:
      return std::nullopt;
  }
}

bool is_hidden(double v) {
  return v <= -1e30;  // leaves nothing of a score that it is added to
}

// Conditions that must all hold, sorted into what attributes can say and the rest.
class Conditions {
 public:
  // `positional`: whether conditions on positions are set apart.
  Conditions(const Rewriter& rw, const Dim& queries, const Dim& keys, bool positional)
      : rw_(rw), queries_(queries), keys_(keys), positional_(positional) {}

  // Takes `id` (or its opposite) apart.
  void add(ValueId id, bool negated, int depth = 8) {
    const Node* node = rw_.producer(id);
    if (const auto known = uniform(rw_, id); known && (*known != 0) != negated) return;
    if (node == nullptr || depth == 0) return keep(id, negated);
    const NodeId node_id = rw_.producer_id(id);
    if (is_unary(node, UnaryFn::logical_not)) {
      absorbed.push_back(node_id);
      return add(node->input(0), !negated, depth - 1);
    }
    if (is_binary(node, negated ? BinaryFn::logical_or : BinaryFn::logical_and)) {
      absorbed.push_back(node_id);
      add(node->input(0), negated, depth - 1);
      return add(node->input(1), negated, depth - 1);
    }
    if (node->op == OpKind::broadcast) {
      absorbed.push_back(node_id);
      return add(node->input(0), negated, depth - 1);
    }
    if (positional_ && (lower_triangle(id, negated) || positions(*node, node_id, negated))) return;
    keep(id, negated);
  }

  // j ≤ i + offset, and j > i + each of the bounds.
  std::optional<Dim> offset;
  std::vector<Dim> bounds;
  struct Rest {
    ValueId id;
    bool negated;
  };
  std::vector<Rest> rest;
  std::vector<NodeId> absorbed;

 private:
  void keep(ValueId id, bool negated) { rest.push_back({id, negated}); }

  bool set_offset(const Dim& d) {
    if (offset && !(*offset == d)) return false;
    offset = d;
    return true;
  }

  // A comparison of key positions with query positions.
  bool positions(const Node& node, NodeId id, bool negated) {
    auto fn = binary_fn(&node);
    if (!fn) return false;
    auto left = iota(rw_, node.input(0));
    auto right = iota(rw_, node.input(1));
    const auto& shape = rw_.value(node.output()).shape;
    if (!left || !right || !shape || shape->size() < 2) return false;
    const auto place = [&](const Iota& x, ValueId operand) {  // 0: keys, 1: queries
      return rw_.value(operand).shape->size() - 1 - x.axis;
    };
    const std::size_t l = place(*left, node.input(0));
    const std::size_t r = place(*right, node.input(1));
    if (l + r != 1) return false;
    const bool swapped = l == 1;
    const Iota& key = swapped ? *right : *left;
    const Iota& query = swapped ? *left : *right;
    if (!(key.length == keys_) || !(query.length == queries_)) return false;
    // Read as: key fn query.
    if (swapped) {
      switch (*fn) {
        case BinaryFn::less:
          fn = BinaryFn::greater;
          break;
        case BinaryFn::less_equal:
          fn = BinaryFn::greater_equal;
          break;
        case BinaryFn::greater:
          fn = BinaryFn::less;
          break;
        case BinaryFn::greater_equal:
          fn = BinaryFn::less_equal;
          break;
        default:
          return false;
      }
    }
    if (negated) {
      switch (*fn) {
        case BinaryFn::less:
          fn = BinaryFn::greater_equal;
          break;
        case BinaryFn::less_equal:
          fn = BinaryFn::greater;
          break;
        case BinaryFn::greater:
          fn = BinaryFn::less_equal;
          break;
        case BinaryFn::greater_equal:
          fn = BinaryFn::less;
          break;
        default:
          return false;
      }
    }
    const Dim d = query.start - key.start;  // j + k₀ fn i + q₀
    bool done = true;
    switch (*fn) {
      case BinaryFn::less_equal:
        done = set_offset(d);
        break;
      case BinaryFn::less:
        done = set_offset(d - Dim(1));
        break;
      case BinaryFn::greater:
        bounds.push_back(d);
        break;
      case BinaryFn::greater_equal:
        bounds.push_back(d - Dim(1));
        break;
      default:
        return false;
    }
    if (!done) return false;
    absorbed.push_back(id);
    absorbed.insert(absorbed.end(), left->nodes.begin(), left->nodes.end());
    absorbed.insert(absorbed.end(), right->nodes.begin(), right->nodes.end());
    return true;
  }

  // The lower triangle of ones, by trilu: itself, cast to bool, or compared with 0.
  bool lower_triangle(ValueId id, bool negated) {
    std::vector<NodeId> nodes;
    for (int step = 0; step < 5; ++step) {
      const Node* node = rw_.producer(id);
      if (node == nullptr) return false;
      nodes.push_back(rw_.producer_id(id));
      if (node->op == OpKind::trilu) {
        if (negated || node->attrs.integer("upper") != 0 || node->attrs.integer("k", 1) != 0 ||
            node->has_input(1) || uniform(rw_, node->input(0)).value_or(0) == 0) {
          return false;
        }
        const auto& shape = rw_.value(id).shape;
        if (!shape || shape->size() < 2 || !(shape->back() == keys_) ||
            !((*shape)[shape->size() - 2] == queries_) || !set_offset(0)) {
          return false;
        }
        absorbed.insert(absorbed.end(), nodes.begin(), nodes.end());
        return true;
      }
      if (is_binary(node, BinaryFn::equal) && scalar_constant(rw_.graph(), node->input(1)) == 0.0) {
        negated = !negated;
      } else if (node->op != OpKind::cast && node->op != OpKind::reshape &&
                 node->op != OpKind::broadcast) {
        return false;
      }
      id = node->input(0);
    }
    return false;
  }

  const Rewriter& rw_;
  const Dim& queries_;
  const Dim& keys_;
  bool positional_;
};

class Joiner {
 public:
  Joiner(Rewriter& rw, const Dim& queries, const Dim& keys, DataType type, const Node& origin,
         NodeId before)
      : rw_(rw),
        queries_(queries),
        keys_(keys),
        type_(type),
        origin_(origin),
        before_(before),
        all_(std::make_unique<Conditions>(rw, queries, keys, true)) {}

  AttentionMask run(const std::vector<ValueId>& masks) {
    AttentionMask result;
    for (const ValueId mask : masks) take(mask);
    if (!attributes(result)) {
      // Positions that the attributes cannot say stay in the mask.
      result = {};
      positional_ = false;
      all_ = std::make_unique<Conditions>(rw_, queries_, keys_, false);
      added_.clear();
      for (const ValueId mask : masks) take(mask);
    }
    result.absorbed = std::move(all_->absorbed);
    ValueId condition;
    for (const auto& [id, negated] : all_->rest) {
      const ValueId one = negated ? opposite(id) : id;
      condition = condition.valid() ? binary("logical_and", condition, one) : one;
    }
    ValueId sum;
    for (ValueId mask : added_) {
      mask = shrunk(mask);
      sum = sum.valid() ? binary("add", sum, mask) : mask;
    }
    if (sum.valid() && condition.valid()) {
      const DataType t = rw_.value(sum).dtype;
      const double low = -std::numeric_limits<double>::infinity();
      sum = binary("add", sum, select(condition, scalar(t, 0), scalar(t, low)));
      condition = {};
    }
    if (sum.valid() && rw_.value(sum).dtype != type_) {
      sum = rw_.insert(OpKind::cast, {sum},
                       Attributes{{"to", type_}, {"saturate", std::int64_t{1}}}, origin_, before_);
    }
    result.mask = sum.valid() ? sum : condition;
    return result;
  }

 private:
  void take(ValueId mask) {
    if (rw_.value(mask).dtype == DataType::boolean) return all_->add(mask, false);
    if (uniform(rw_, mask) == 0.0) return;
    ValueId inner = mask;
    std::vector<NodeId> views;
    for (int step = 0; step < 4; ++step) {
      const Node* view = rw_.producer(inner);
      if (view == nullptr || (view->op != OpKind::broadcast && view->op != OpKind::reshape)) break;
      // A reshape that moves the last two axes is more than a view of the same mask.
      if (!same_tail(view->input(0), inner)) break;
      views.push_back(rw_.producer_id(inner));
      inner = view->input(0);
    }
    const Node* node = rw_.producer(inner);
    if (node != nullptr && node->op == OpKind::select && from_select(inner, *node, views)) return;
    if (positional_ && node != nullptr && node->op == OpKind::trilu &&
        from_triangle(inner, *node, views))
      return;
    added_.push_back(mask);
  }

  bool same_tail(ValueId a, ValueId b) const {
    const auto& x = rw_.value(a).shape;
    const auto& y = rw_.value(b).shape;
    if (!x || !y || x->size() < 2 || y->size() < 2) return false;
    return x->back() == y->back() && (*x)[x->size() - 2] == (*y)[y->size() - 2];
  }

  // 0 where visible and a very small number elsewhere.
  bool from_select(ValueId id, const Node& node, const std::vector<NodeId>& views) {
    const auto a = uniform(rw_, node.input(1));
    const auto b = uniform(rw_, node.input(2));
    if (!a || !b) return false;
    const bool negated = *b == 0 && is_hidden(*a);
    if (!negated && !(*a == 0 && is_hidden(*b))) return false;
    const double hidden = negated ? *a : *b;
    Conditions own(rw_, queries_, keys_, positional_);
    own.add(node.input(0), negated);
    // A finite number hides as −∞ does only in rows that see something, as all do under a causal
    // mask alone.
    if (!std::isinf(hidden) && !(own.rest.empty() && own.bounds.empty() && sees_first(own))) {
      return false;
    }
    adopt(own, views, id);
    return true;
  }

  bool sees_first(const Conditions& c) const {
    if (!c.offset) return true;
    const auto low = c.offset->lower_bound();
    return low && *low >= 0;
  }

  // Very small numbers strictly above the diagonal, 0 elsewhere.
  bool from_triangle(ValueId id, const Node& node, const std::vector<NodeId>& views) {
    const auto& shape = rw_.value(id).shape;
    const auto value = uniform(rw_, node.input(0));
    if (!shape || !value || !is_hidden(*value) || node.has_input(1) ||
        node.attrs.integer("upper") == 0 || node.attrs.integer("k", 0) != 1 || shape->size() < 2 ||
        !(shape->back() == keys_) || !((*shape)[shape->size() - 2] == queries_)) {
      return false;
    }
    Conditions own(rw_, queries_, keys_, positional_);
    own.offset = Dim(0);
    adopt(own, views, id);
    return true;
  }

  void adopt(const Conditions& own, const std::vector<NodeId>& views, ValueId id) {
    if (own.offset) {
      if (all_->offset && !(*all_->offset == *own.offset)) {
        added_.push_back(id);
        return;
      }
      all_->offset = own.offset;
    }
    all_->bounds.insert(all_->bounds.end(), own.bounds.begin(), own.bounds.end());
    all_->rest.insert(all_->rest.end(), own.rest.begin(), own.rest.end());
    all_->absorbed.insert(all_->absorbed.end(), own.absorbed.begin(), own.absorbed.end());
    all_->absorbed.insert(all_->absorbed.end(), views.begin(), views.end());
    all_->absorbed.push_back(rw_.producer_id(id));
  }

  // Says the conditions on positions by attributes; false if they cannot all be said.
  bool attributes(AttentionMask& result) const {
    if (!all_->offset) return all_->bounds.empty();
    if (all_->offset->is_constant(0)) {
      result.causal = "top_left";
    } else if (*all_->offset == keys_ - queries_) {
      result.causal = "bottom_right";
    } else {
      return false;
    }
    for (const Dim& bound : all_->bounds) {
      // j > i + bound, and the window is j > i + offset − window.
      const auto window = (*all_->offset - bound).constant();
      if (!window || *window < 1 || (result.window >= 0 && result.window != *window)) return false;
      result.window = *window;
    }
    return true;
  }

  // The attention broadcasts its mask: it need not be repeated before.
  ValueId shrunk(ValueId mask) {
    for (int step = 0; step < 3; ++step) {
      const Node* node = rw_.producer(mask, OpKind::broadcast);
      if (node == nullptr) break;
      mask = node->input(0);
    }
    const Node* node = rw_.producer(mask);
    if (node == nullptr || node->op != OpKind::select) return mask;
    std::vector<ValueId> inputs = node->inputs;
    bool any = false;
    for (ValueId& input : inputs) {
      const Node* repeat = rw_.producer(input, OpKind::broadcast);
      if (repeat == nullptr) continue;
      input = repeat->input(0);
      any = true;
    }
    return any ? rw_.insert(OpKind::select, std::move(inputs), Attributes{}, origin_, before_)
               : mask;
  }

  ValueId scalar(DataType t, double value) { return rw_.add_constant({}, scalar_tensor(t, value)); }
  ValueId select(ValueId condition, ValueId a, ValueId b) {
    return rw_.insert(OpKind::select, {condition, a, b}, Attributes{}, origin_, before_);
  }
  ValueId binary(const char* fn, ValueId a, ValueId b) {
    return rw_.insert(OpKind::binary, {a, b}, Attributes{{"fn", std::string(fn)}}, origin_,
                      before_);
  }
  ValueId opposite(ValueId id) {
    return rw_.insert(OpKind::unary, {id},
                      Attributes{{"fn", std::string("logical_not")}, {"alpha", 0.0}, {"beta", 0.0}},
                      origin_, before_);
  }

  Rewriter& rw_;
  const Dim& queries_;
  const Dim& keys_;
  DataType type_;
  const Node& origin_;
  NodeId before_;
  bool positional_ = true;
  std::unique_ptr<Conditions> all_;
  std::vector<ValueId> added_;
};

}  // namespace

AttentionMask join_masks(Rewriter& rw, const std::vector<ValueId>& masks, const Dim& queries,
                         const Dim& keys, DataType type, const Node& origin, NodeId before) {
  return Joiner(rw, queries, keys, type, origin, before).run(masks);
}

}  // namespace concord::graph
