#include <algorithm>
#include <cstring>

#include "graph/passes/activation.h"
#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

// The elements of a constant that has one per channel (axis 1 of `rank`) or one for all.
std::optional<std::vector<double>> per_channel(const Rewriter& rw, ValueId id, std::int64_t rank,
                                               std::int64_t channels) {
  const Value& value = rw.value(id);
  if (!value.constant || !is_float(value.dtype)) return std::nullopt;
  const Tensor& t = *value.constant;
  if (t.count() == 1 && t.rank() <= rank) {
    return std::vector<double>(static_cast<std::size_t>(channels), t.at_double(0));
  }
  if (t.count() != channels || t.rank() < rank - 1 || t.rank() > rank) return std::nullopt;
  if (t.shape()[static_cast<std::size_t>(t.rank() - rank + 1)] != channels) return std::nullopt;
  std::vector<double> elements;
  for (std::int64_t i = 0; i < channels; ++i) elements.push_back(t.at_double(i));
  return elements;
}

constexpr std::size_t kScale = 4;

void store(Tensor& t, std::int64_t i, double value) {
  const std::uint64_t raw = float_to_bits(t.dtype(), value);
  const auto width = static_cast<std::size_t>(bits(t.dtype()) / 8);
  std::memcpy(t.mutable_data() + static_cast<std::size_t>(i) * width, &raw, width);
}

class Fuser {
 public:
  Fuser(Rewriter& rw, NodeId id, std::int64_t& budget)
      : rw_(rw), root_(id), node_(rw.node(id)), budget_(budget) {
    node_.outputs.clear();
    node_.inputs.resize(std::max<std::size_t>(3, node_.inputs.size()));
  }

  bool run() {
    if (node_.has_input(kScale)) return fuse_activation();
    const Value& w = rw_.value(node_.inputs[1]);
    if (!w.constant || !w.shape || !is_float(w.dtype) || bits(w.dtype) < 16) return false;
    weights_ = *w.constant;
    // Without elements there is nothing to scale, and the group, which nothing bounds then, would
    // size the bias.
    if (weights_.count() == 0) return false;
    channels_ = node_.op == OpKind::conv ? weights_.shape()[0]
                                         : weights_.shape()[1] * node_.attrs.integer("group");
    bias_.assign(static_cast<std::size_t>(channels_), 0);
    if (node_.inputs[2].valid()) {
      const auto known = per_channel(rw_, node_.inputs[2], 2, channels_);
      if (!known) {
        fixed_ = true;
      } else {
        bias_ = *known;
        has_bias_ = true;
      }
    }
    scale_.assign(static_cast<std::size_t>(channels_), 1);
    while (absorb_user()) {
    }
    if (absorbed_.empty()) return false;
    write_constants();
    return replace();
  }

 private:
  // Of integers with scales: they stay as they are.
  bool fuse_activation() {
    fixed_ = true;
    return absorb_user() && replace();
  }

  bool replace() {
    while (!node_.inputs.back().valid()) node_.inputs.pop_back();
    rw_.replace(root_, std::move(node_), absorbed_);
    return true;
  }

  bool absorb_user() {
    const ValueId out = rw_.node(root_).output();
    const NodeId user = rw_.only_user(out);
    if (!user.valid() || node_.attrs.has("activation")) return false;
    const Node& next = rw_.node(user);
    if (!same_shape(rw_.graph(), out, next.output()) ||
        rw_.value(out).dtype != rw_.value(next.output()).dtype) {
      return false;
    }
    if (is_activation(next) && node_.op == OpKind::conv) {
      node_.attrs.set("activation", next.attrs.text("fn"));
      node_.attrs.set("alpha", next.attrs.number("alpha", 0));
      node_.attrs.set("beta", next.attrs.number("beta", 0));
    } else if (!absorb_affine(next, out)) {
      return false;
    }
    absorbed_.push_back(root_);
    root_ = user;
    return true;
  }

  bool absorb_affine(const Node& next, ValueId out) {
    const auto fn = binary_fn(&next);
    if (!fn || fixed_) return false;
    const bool second = next.input(0) == out;
    if ((fn == BinaryFn::sub || fn == BinaryFn::div) && !second) return false;
    const auto rank = rank_of(rw_.graph(), out);
    const auto other = per_channel(rw_, other_input(next, out), *rank, channels_);
    if (!other) return false;
    const bool factor = fn == BinaryFn::mul || fn == BinaryFn::div;
    if (!factor && fn != BinaryFn::add && fn != BinaryFn::sub) return false;
    if (factor && !affordable()) return false;
    for (std::size_t c = 0; c < other->size(); ++c) {
      const double v = (*other)[c];
      if (factor) {
        const double s = fn == BinaryFn::mul ? v : 1 / v;
        scale_[c] *= s;
        bias_[c] *= s;
        scaled_ = true;
      } else {
        bias_[c] += fn == BinaryFn::add ? v : -v;
        has_bias_ = true;
      }
    }
    return true;
  }

  // Scaled weights are new ones; the old ones stay only where something else reads them.
  bool affordable() {
    if (scaled_) return true;
    if (!rw_.single_use(node_.inputs[1])) {
      if (budget_ < weights_.bytes()) return false;
      budget_ -= weights_.bytes();
    }
    return true;
  }

  // Weights times their channels' scales, which `channel(row, column)` numbers.
  template <typename Channel>
  Tensor scaled_weights(Channel channel) const {
    Tensor result(weights_.dtype(), weights_.shape());
    const std::int64_t rows = weights_.shape()[0];
    const std::int64_t columns = weights_.shape()[1];
    const std::int64_t area = rows * columns == 0 ? 0 : weights_.count() / (rows * columns);
    const bool f32 = weights_.dtype() == DataType::f32;
    const std::span<const float> from = f32 ? weights_.as<float>() : std::span<const float>();
    const std::span<float> to = f32 ? result.as_mutable<float>() : std::span<float>();
    std::int64_t i = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        const double factor = scale_[static_cast<std::size_t>(channel(row, column))];
        for (const std::int64_t end = i + area; i < end; ++i) {
          if (f32) {
            const auto at = static_cast<std::size_t>(i);
            to[at] = static_cast<float>(static_cast<double>(from[at]) * factor);
          } else {
            store(result, i, weights_.at_double(i) * factor);
          }
        }
      }
    }
    return result;
  }

  void write_constants() {
    const DataType type = weights_.dtype();
    const std::string name = rw_.value(node_.inputs[1]).name;
    if (scaled_) {
      // conv: [M, C/g, k…], one scale per M; conv_transpose: [C, M/g, k…], channel g·(M/g) + m.
      const std::int64_t per_group = weights_.shape()[0] / node_.attrs.integer("group");
      const std::int64_t columns = weights_.shape()[1];
      const bool transposed = node_.op == OpKind::conv_transpose;
      node_.inputs[1] =
          rw_.add_constant(name, scaled_weights([&](std::int64_t row, std::int64_t column) {
                             return transposed ? row / per_group * columns + column : row;
                           }));
    }
    if (has_bias_ && !fixed_) {
      Tensor bias(type, {channels_});
      for (std::int64_t c = 0; c < channels_; ++c) {
        store(bias, c, bias_[static_cast<std::size_t>(c)]);
      }
      node_.inputs[2] = rw_.add_constant(name + "_bias", std::move(bias));
    }
  }

  Rewriter& rw_;
  NodeId root_;
  Node node_;
  std::int64_t& budget_;
  Tensor weights_;
  std::int64_t channels_ = 0;
  std::vector<double> scale_;
  std::vector<double> bias_;
  bool has_bias_ = false;
  bool scaled_ = false;
  bool fixed_ = false;  // the bias is computed: nothing can be folded into it
  std::vector<NodeId> absorbed_;
};

}  // namespace

int fuse_conv(Graph& graph, const PassOptions& options) {
  Rewriter rw(graph);
  int found = 0;
  std::int64_t budget = options.fold_budget;
  for (const NodeId id : rw.order()) {
    const Node& node = rw.node(id);
    if (node.removed || (node.op != OpKind::conv && node.op != OpKind::conv_transpose)) continue;
    if (Fuser(rw, id, budget).run()) ++found;
  }
  return found;
}

}  // namespace concord::graph
