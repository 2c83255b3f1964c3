#include "graph/passes/attention_operands.h"

#include <algorithm>
#include <cmath>

namespace concord::graph {
namespace {

// The axes of the source of a transpose, from those of its result.
std::string letters_before(const std::string& letters, const std::vector<std::int64_t>& perm) {
  std::string source(letters.size(), '?');
  for (std::size_t k = 0; k < perm.size() && k < letters.size(); ++k) {
    source[static_cast<std::size_t>(perm[k])] = letters[k];
  }
  return source;
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

std::optional<RepeatedHeads> repeated_heads(const Rewriter& rw, ValueId id, std::size_t axis) {
  const Node* join = rw.producer(id, OpKind::reshape);
  const Node* repeat = join ? rw.producer(join->input(0), OpKind::broadcast) : nullptr;
  const Node* split = repeat ? rw.producer(repeat->input(0), OpKind::reshape) : nullptr;
  if (split == nullptr || split->inputs.size() != 1 || join->inputs.size() != 1) {
    return std::nullopt;
  }
  const auto& z = rw.value(split->input(0)).shape;
  const auto& lone = rw.value(repeat->input(0)).shape;
  const auto& wide = rw.value(join->input(0)).shape;
  const auto& y = rw.value(id).shape;
  if (!z || !lone || !wide || !y || z->size() != 4 || lone->size() != 5 || wide->size() != 5 ||
      y->size() != 4) {
    return std::nullopt;
  }
  for (std::size_t k = 0; k < 5; ++k) {
    if (k == axis + 1) {
      if (!(*lone)[k].is_constant(1)) return std::nullopt;
      continue;
    }
    const Dim& from = (*z)[k > axis ? k - 1 : k];
    if (!((*lone)[k] == from) || !((*wide)[k] == from)) return std::nullopt;
  }
  for (std::size_t k = 0; k < 4; ++k) {
    const Dim expected = k == axis ? (*z)[k] * (*wide)[axis + 1] : (*z)[k];
    if (!((*y)[k] == expected)) return std::nullopt;
  }
  return RepeatedHeads{
      split->input(0),
      {rw.producer_id(id), rw.producer_id(join->input(0)), rw.producer_id(repeat->input(0))}};
}

HeadOperand head_operand(const Rewriter& rw, ValueId id, std::string letters,
                         const std::vector<std::string>& allowed, bool grouped) {
  HeadOperand best;
  HeadOperand now;
  now.source = id;
  now.layout = std::move(letters);
  for (int step = 0; step < 12; ++step) {
    if (contains(allowed, now.layout)) {
      const auto at = now.layout.find('h');
      const auto& shape = rw.value(now.source).shape;
      if (!shape || shape->size() != 4) break;
      now.heads = (*shape)[at];
      best = now;
    }
    const Node* node = rw.producer(now.source);
    if (node == nullptr) break;
    const NodeId node_id = rw.producer_id(now.source);
    if (const auto scaled = scaled_by(rw.graph(), *node)) {
      now.factor *= scaled->factor;
      now.absorbed.push_back(node_id);
      now.source = scaled->base;
      continue;
    }
    if (node->op == OpKind::transpose) {
      now.layout = letters_before(now.layout, node->attrs.integers("perm"));
      now.absorbed.push_back(node_id);
      now.source = node->input(0);
      continue;
    }
    if (!grouped) break;
    const auto repeated = repeated_heads(rw, now.source, now.layout.find('h'));
    if (!repeated) break;
    now.absorbed.insert(now.absorbed.end(), repeated->absorbed.begin(), repeated->absorbed.end());
    now.source = repeated->source;
  }
  return best;
}

std::optional<Scores> read_scores(Rewriter& rw, ValueId softmax_input, const Node& origin,
                                  NodeId before) {
  Scores scores;
  const DataType type = rw.value(softmax_input).dtype;
  // How far a value lies from a product of that shape, through what may stand between.
  const auto leads_to_product = [&](ValueId id) {
    for (int step = 0; step < 10; ++step) {
      const Node* node = rw.producer(id);
      if (node == nullptr || !rw.value(id).shape || !same_shape(rw.graph(), id, softmax_input)) {
        return false;
      }
      if (node->op == OpKind::matmul) return true;
      if (const auto scaled = scaled_by(rw.graph(), *node)) {
        id = scaled->base;
      } else if (node->op == OpKind::cast || is_unary(node, UnaryFn::tanh)) {
        id = node->input(0);
      } else if (is_binary(node, BinaryFn::add)) {
        // Followed along its first operand that is as large as the scores.
        id =
            same_shape(rw.graph(), node->input(0), softmax_input) ? node->input(0) : node->input(1);
      } else if (node->op == OpKind::select) {
        id = scalar_constant(rw.graph(), node->input(1)) ? node->input(2) : node->input(1);
      } else {
        return false;
      }
    }
    return false;
  };
  ValueId at = softmax_input;
  bool below_masks = false;  // a factor was met: masks below it would be scaled
  for (int step = 0; step < 12; ++step) {
    const Node* node = rw.producer(at);
    if (node == nullptr || !same_shape(rw.graph(), at, softmax_input)) return std::nullopt;
    const NodeId id = rw.producer_id(at);
    if (node->op == OpKind::matmul) {
      scores.product = at;
      return scores;
    }
    // Everything between vanishes: nothing else may read it.
    if (!rw.single_use(at)) return std::nullopt;
    scores.absorbed.push_back(id);
    if (node->op == OpKind::cast && is_float(rw.value(node->input(0)).dtype)) {
      at = node->input(0);
      continue;
    }
    if (const auto scaled = scaled_by(rw.graph(), *node)) {
      below_masks = true;
      const Node* squash = unary_producer(rw, scaled->base, UnaryFn::tanh);
      if (squash != nullptr) {
        if (scores.softcap != 0 || scores.scale != 1 || !rw.single_use(scaled->base)) {
          return std::nullopt;
        }
        scores.softcap = scaled->factor;
        scores.scale = scaled->factor;  // c·tanh(x / c): what is below is divided by c
        scores.absorbed.push_back(rw.producer_id(scaled->base));
        at = squash->input(0);
        continue;
      }
      scores.scale *= scaled->factor;
      at = scaled->base;
      continue;
    }
    if (below_masks) return std::nullopt;
    if (is_binary(node, BinaryFn::add)) {
      const ValueId a = node->input(0);
      const ValueId b = node->input(1);
      const bool first = leads_to_product(a);
      if (!first && !leads_to_product(b)) return std::nullopt;
      scores.masks.push_back(first ? b : a);
      at = first ? a : b;
      continue;
    }
    if (node->op == OpKind::select) {
      // scores where visible, a very small number elsewhere (or the other way round).
      const ValueId condition = node->input(0);
      const bool visible_true = scalar_constant(rw.graph(), node->input(2)).has_value();
      const auto hidden = scalar_constant(rw.graph(), node->input(visible_true ? 2 : 1));
      if (!hidden || rank_of(rw.graph(), condition).value_or(5) > 4) return std::nullopt;
      const ValueId next = node->input(visible_true ? 1 : 2);
      const bool infinite = std::isinf(*hidden) && *hidden < 0;
      // Added to a score, a number this large leaves nothing of it in its own type.
      const bool huge = *hidden <= -1e30 &&
                        (type == DataType::f32 || type == DataType::bf16 || type == DataType::f64);
      if (!infinite && !huge) return std::nullopt;
      ValueId mask = condition;
      if (infinite) {
        if (!visible_true) {
          mask = rw.insert(
              OpKind::unary, {condition},
              Attributes{{"fn", std::string("logical_not")}, {"alpha", 0.0}, {"beta", 0.0}}, origin,
              before);
        }
      } else {
        const ValueId zero = rw.add_constant({}, scalar_tensor(type, 0));
        const ValueId low = rw.add_constant({}, scalar_tensor(type, *hidden));
        mask = rw.insert(OpKind::select,
                         {condition, visible_true ? zero : low, visible_true ? low : zero},
                         Attributes{}, origin, before);
      }
      scores.masks.push_back(mask);
      at = next;
      continue;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace concord::graph
