#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

bool is_byte(DataType dtype) {
  return dtype == DataType::u8 || dtype == DataType::i8;
}

// Bytes that a dequantize makes floats of: one scale and zero point, or one per index of an axis.
struct Dequantised {
  NodeId node;
  ValueId x, zero;
  std::vector<double> scales;
  std::int64_t axis = 0;
};

// The result of a product of bytes, exact in 32 bits whatever the numbers.
constexpr std::int64_t kMostTerms = std::numeric_limits<std::int32_t>::max() / (255 * 255);

class Fuser {
 public:
  Fuser(Rewriter& rw, NodeId id) : rw_(rw), id_(id), node_(rw.node(id)) {}

  bool run() { return node_.op == OpKind::conv ? fuse_conv() : fuse_matmul(); }

 private:
  bool fuse_matmul() {
    if (node_.attrs.integer("trans_a", 0) != 0) return false;
    if (rw_.value(node_.output()).dtype != DataType::f32) return false;
    const auto a = dequantised(node_.input(0));
    const auto b = dequantised(node_.input(1));
    if (!a || !b || a->scales.size() != 1) return false;
    const bool trans_b = node_.attrs.integer("trans_b", 0) != 0;
    const auto k = extent(rw_.graph(), node_.input(1), trans_b ? -1 : -2);
    const auto n = extent(rw_.graph(), node_.input(1), trans_b ? -2 : -1);
    const auto rank = rank_of(rw_.graph(), node_.input(1));
    if (!k || !n || !rank || (k->is_constant() && *k->constant() > kMostTerms)) return false;
    const bool weights = rw_.value(b->x).constant.has_value() && *rank == 2;
    if (b->scales.size() != 1) {
      // One per column, of weights.
      if (!weights || b->axis != (trans_b ? 0 : 1)) return false;
      if (!n->is_constant(static_cast<std::int64_t>(b->scales.size()))) return false;
    }
    const auto scale = joint_scale(a->scales[0], b->scales);
    if (!scale) return false;
    Node integer;
    integer.op = OpKind::matmul_integer;
    integer.inputs = {a->x,
                      trans_b ? transposed(*b, weights) : b->x,
                      a->zero,
                      b->zero,
                      rw_.add_constant({}, *scale),
                      node_.input(2),
                      node_.input(3)};
    while (!integer.inputs.back().valid()) integer.inputs.pop_back();
    for (const char* name : {"activation", "act_alpha", "act_beta"}) {
      if (const auto* value = node_.attrs.find(name)) integer.attrs.set(name, *value);
    }
    rw_.replace(id_, std::move(integer), {a->node, b->node});
    return true;
  }

  bool fuse_conv() {
    if (rw_.value(node_.output()).dtype != DataType::f32 || node_.has_input(4)) return false;
    if (node_.attrs.integer("group") != 1) return false;
    const auto x = dequantised(node_.input(0));
    const auto w = dequantised(node_.input(1));
    if (!x || !w || x->scales.size() != 1 || !rw_.value(w->x).constant) return false;
    const Shape& shape = rw_.value(w->x).constant->shape();
    const std::int64_t channels = shape.empty() ? 0 : shape[0];
    if (channels == 0 || element_count(shape) / channels > kMostTerms) return false;
    const bool per_channel =
        w->axis == 0 && static_cast<std::int64_t>(w->scales.size()) == channels;
    if (w->scales.size() != 1 && !per_channel) return false;
    const auto scale = joint_scale(x->scales[0], w->scales);
    const auto weights = signed_weights(*w, element_count(shape) / channels);
    if (!scale || !weights.valid()) return false;
    Node integer;
    integer.op = OpKind::conv;
    integer.attrs = node_.attrs;
    integer.inputs = {x->x, weights, node_.input(2), x->zero, rw_.add_constant({}, *scale)};
    rw_.replace(id_, std::move(integer), {x->node, w->node});
    return true;
  }

  // The weights less their zero points as signed bytes, if they are; `row` elements to a channel.
  ValueId signed_weights(const Dequantised& w, std::int64_t row) {
    const Tensor from = *rw_.value(w.x).constant;
    std::vector<std::int64_t> zeros{0};
    if (w.zero.valid()) zeros = rw_.value(w.zero).constant->ints();
    const bool zero = std::all_of(zeros.begin(), zeros.end(), [](auto z) { return z == 0; });
    if (zero && from.dtype() == DataType::i8) return w.x;
    Tensor to(DataType::i8, from.shape());
    const std::byte* source = from.in_place();
    std::byte* target = to.mutable_data();
    for (std::int64_t i = 0; i < from.count(); ++i) {
      const auto stored = static_cast<std::uint8_t>(source[i]);
      const std::int64_t value =
          from.dtype() == DataType::u8 ? stored : static_cast<std::int8_t>(stored);
      const std::int64_t moved =
          value - zeros[zeros.size() == 1 ? 0 : static_cast<std::size_t>(i / row)];
      if (moved < -128 || moved > 127) return {};
      target[i] = static_cast<std::byte>(static_cast<std::int8_t>(moved));
    }
    return rw_.add_constant(rw_.value(w.x).name, std::move(to));
  }

  std::optional<Dequantised> dequantised(ValueId id) {
    const Node* node = rw_.producer(id, OpKind::dequantize);
    if (node == nullptr || node->attrs.integer("block_size", 0) != 0) return std::nullopt;
    if (!is_byte(rw_.value(node->input(0)).dtype) || rw_.value(id).dtype != DataType::f32) {
      return std::nullopt;
    }
    const auto& scale = rw_.value(node->input(1)).constant;
    if (!scale || scale->dtype() != DataType::f32 || scale->count() == 0) return std::nullopt;
    Dequantised found{
        rw_.producer_id(id), node->input(0), node->input(2), {}, node->attrs.integer("axis", 0)};
    for (const float s : scale->as<float>()) found.scales.push_back(static_cast<double>(s));
    if (found.zero.valid()) {
      const auto& zero = rw_.value(found.zero).constant;
      if (!zero || zero->count() != scale->count()) return std::nullopt;
    }
    return found;
  }

  // alpha·a·b, if it is a normal number of float32 for every column.
  std::optional<Tensor> joint_scale(double a, const std::vector<double>& b) const {
    const double alpha = node_.attrs.number("alpha", 1);
    Tensor scale(DataType::f32,
                 b.size() == 1 ? Shape{} : Shape{static_cast<std::int64_t>(b.size())});
    for (std::size_t i = 0; i < b.size(); ++i) {
      const auto s = static_cast<float>(alpha * a * b[i]);
      if (!std::isnormal(s)) return std::nullopt;
      scale.as_mutable<float>()[i] = s;
    }
    return scale;
  }

  // op(b) with rows of k: weights are turned here, what a run gives by a transpose.
  ValueId transposed(const Dequantised& b, bool weights) {
    if (weights) {
      const Tensor from = *rw_.value(b.x).constant;
      const std::int64_t rows = from.shape()[0];
      const std::int64_t cols = from.shape()[1];
      Tensor to(from.dtype(), {cols, rows});
      const std::byte* source = from.in_place();
      std::byte* target = to.mutable_data();
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) target[j * rows + i] = source[i * cols + j];
      }
      return rw_.add_constant(rw_.value(b.x).name, std::move(to));
    }
    std::vector<std::int64_t> perm;
    for (std::int64_t i = 0; i < *rank_of(rw_.graph(), b.x); ++i) perm.push_back(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return rw_.insert(OpKind::transpose, {b.x}, {{"perm", perm}}, rw_.node(b.node), id_);
  }

  Rewriter& rw_;
  NodeId id_;
  const Node node_;
};

}  // namespace

int fuse_quantised(Graph& graph, const PassOptions& options) {
  if (!options.quantised_products) return 0;
  return rewrite_each(graph, [](Rewriter& rw, NodeId id) {
    const OpKind op = rw.node(id).op;
    return (op == OpKind::matmul || op == OpKind::conv) && Fuser(rw, id).run();
  });
}

}  // namespace concord::graph
