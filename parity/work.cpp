#include "parity/work.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace concord::parity {
namespace {

using graph::Graph;
using graph::Node;
using graph::OpKind;
using graph::ValueId;

std::optional<Shape> shape_of(const Graph& graph, ValueId id, const Bindings& bindings) {
  const graph::Value& value = graph.value(id);
  if (value.constant) return value.constant->shape();
  return value.shape ? evaluate(*value.shape, bindings) : std::nullopt;
}

class Measure {
 public:
  Measure(const Graph& graph, const Node& node, const Bindings& bindings)
      : graph_(graph), node_(node), bindings_(bindings) {}

  std::optional<Work> work() {
    Work work;
    if (is_view()) return work;
    std::set<ValueId> seen;
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      const ValueId id = node_.inputs[i];
      if (!id.valid() || !seen.insert(id).second) continue;
      const double bytes = reads_part(i) ? bytes_of(node_.output()) : bytes_of(id);
      work.bytes += bytes;
      if (graph_.value(id).is_constant()) {
        work.weight_bytes += bytes;
        work.weights.emplace_back(id, bytes);
      }
      if (i == 0) work.first_bytes = bytes;
    }
    for (const ValueId id : node_.outputs) {
      if (id.valid()) work.bytes += bytes_of(id);
    }
    work.flops = flops();
    if (!known_) return std::nullopt;
    return work;
  }

 private:
  bool is_view() const {
    switch (node_.op) {
      case OpKind::reshape:
      case OpKind::dims:
      case OpKind::shape_of:
      case OpKind::constant_of:
        return true;
      default:
        return false;
    }
  }

  // Operands of which only as much is read as is written.
  bool reads_part(std::size_t input) const {
    switch (node_.op) {
      case OpKind::gather:
      case OpKind::gather_elements:
      case OpKind::gather_nd:
      case OpKind::slice:
        return input == 0;
      default:
        return false;
    }
  }

  Shape shape(ValueId id) {
    const std::optional<Shape> shape = shape_of(graph_, id, bindings_);
    if (!shape) known_ = false;
    return shape.value_or(Shape());
  }
  double count(ValueId id) {
    double count = 1;
    for (const std::int64_t extent : shape(id)) count *= static_cast<double>(extent);
    return count;
  }
  double bytes_of(ValueId id) {
    const std::optional<double> bytes = parity::bytes_of(graph_, id, bindings_);
    if (!bytes) known_ = false;
    return bytes.value_or(0);
  }

  // The extent `from_end` places before the last one.
  double extent(ValueId id, std::size_t from_end) {
    const Shape dims = shape(id);
    return from_end < dims.size() ? static_cast<double>(dims[dims.size() - 1 - from_end]) : 1;
  }

  double attention() {
    const bool by_position = node_.attrs.text("k_layout", "bhsd") == "bshd";
    const bool transposed = node_.attrs.text("k_layout", "bhsd") == "bhds";
    const double keys = extent(node_.input(1), transposed ? 0 : by_position ? 2 : 1);
    const double scores = count(node_.input(0)) / extent(node_.input(0), 0) * keys;
    return 2 * count(node_.input(0)) * keys + 2 * count(node_.output()) * keys + 8 * scores;
  }

  double flops() {
    const ValueId x = node_.input(0);
    const ValueId y = node_.output();
    switch (node_.op) {
      case OpKind::matmul: {
        const bool transposed = node_.attrs.integer("trans_a", 0) != 0;
        return 2 * count(y) * extent(x, transposed ? 1 : 0);
      }
      case OpKind::matmul_integer:
        return 2 * count(y) * extent(x, 0);
      case OpKind::matmul_nbits:
        return 2 * count(y) * static_cast<double>(node_.attrs.integer("k", 0));
      case OpKind::conv: {
        const Shape w = shape(node_.input(1));
        return w.empty() || w[0] == 0
                   ? 0
                   : 2 * count(y) * count(node_.input(1)) / static_cast<double>(w[0]);
      }
      case OpKind::conv_transpose: {
        const Shape w = shape(node_.input(1));
        return w.empty() || w[0] == 0
                   ? 0
                   : 2 * count(x) * count(node_.input(1)) / static_cast<double>(w[0]);
      }
      case OpKind::gru:
      case OpKind::lstm:
      case OpKind::rnn:  // each weight meets each position of the sequence once
        return 2 * (count(node_.input(1)) + count(node_.input(2))) * extent(x, 2) * extent(x, 1);
      case OpKind::attention:
        return attention();
      case OpKind::softmax:
      case OpKind::layer_norm:
      case OpKind::rms_norm:
      case OpKind::group_norm:
        return 8 * count(x);
      case OpKind::reduce:
      case OpKind::arg_reduce:
        return count(x);
      case OpKind::unary:
      case OpKind::binary:
      case OpKind::elementwise:
        return count(y);
      default:
        return 0;
    }
  }

  const Graph& graph_;
  const Node& node_;
  const Bindings& bindings_;
  bool known_ = true;
};

}  // namespace

std::optional<Work> work_of(const Graph& graph, const Node& node, const Bindings& bindings) {
  return Measure(graph, node, bindings).work();
}

std::optional<double> bytes_of(const Graph& graph, ValueId id, const Bindings& bindings) {
  const std::optional<Shape> shape = shape_of(graph, id, bindings);
  if (!shape) return std::nullopt;
  auto bytes = static_cast<double>(bits(graph.value(id).dtype)) / 8;
  for (const std::int64_t extent : *shape) bytes *= static_cast<double>(extent);
  return std::ceil(bytes);
}

double moved_bytes(const Graph& graph, const Bindings& bindings) {
  double bytes = 0;
  for (const graph::NodeId id : graph.order()) {
    const auto work = work_of(graph, graph.node(id), bindings);
    bytes += work ? work->bytes : 0;
  }
  return bytes;
}

}  // namespace concord::parity
