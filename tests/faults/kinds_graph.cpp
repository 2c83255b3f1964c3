// Faults of a lowering: the step is another one than the model's.
#include <algorithm>
#include <cmath>
#include <set>

#include "tests/faults/fault.h"

namespace concord::faults {
namespace {

using graph::Graph;
using graph::Node;
using graph::OpKind;

bool is_norm(const Node& node) {
  return node.op == OpKind::layer_norm || node.op == OpKind::rms_norm ||
         node.op == OpKind::group_norm;
}
bool is_product(const Node& node) {
  return node.op == OpKind::matmul || node.op == OpKind::conv;
}
bool is_float_operand(const Site& site, std::size_t i) {
  return i < site.operands.size() && site.operands[i].defined() &&
         is_float(site.operands[i].dtype());
}

Tensor zeros_like(const Tensor& tensor) {
  return Tensor::zeros(tensor.dtype(), tensor.shape());
}

// --- operands left out

bool has_epsilon(const Site& site) {
  return is_norm(site.node);
}
void epsilon_10x(Graph&, Node& node) {
  node.attrs.set("epsilon", node.attrs.number("epsilon") * 10);
}

// Which operand is a bias.
bool is_bias(const Node& node, std::size_t i) {
  return i == 2 &&
         (is_product(node) || node.op == OpKind::layer_norm || node.op == OpKind::group_norm);
}
bool has_bias(const Site& site) {
  return is_bias(site.node, 2) && is_float_operand(site, 2);
}
Tensor bias_dropped(const Graph&, const Node& node, std::size_t i, const Tensor& t) {
  return is_bias(node, i) ? zeros_like(t) : Tensor();
}
bool has_long_bias(const Site& site) {
  return has_bias(site) && site.operands[2].count() > 1;
}
Tensor bias_shifted(const Graph&, const Node& node, std::size_t i, const Tensor& t) {
  if (!is_bias(node, i)) return {};
  return mapped(t, [&](std::int64_t e, double) { return t.at_double((e + 1) % t.count()); });
}

bool has_gamma(const Site& site) {
  return is_norm(site.node) && is_float_operand(site, 1);
}
Tensor gamma_dropped(const Graph&, const Node&, std::size_t i, const Tensor& t) {
  return i == 1 ? mapped(t, [](std::int64_t, double) { return 1.0; }) : Tensor();
}

bool is_residual(const Node& node, std::size_t i) {
  return ((node.op == OpKind::matmul || node.op == OpKind::layer_norm) && i == 3) ||
         (node.op == OpKind::rms_norm && i == 2);
}
bool has_residual(const Site& site) {
  return is_float_operand(site, site.node.op == OpKind::rms_norm ? 2 : 3) &&
         (is_residual(site.node, 2) || is_residual(site.node, 3));
}
Tensor residual_dropped(const Graph&, const Node& node, std::size_t i, const Tensor& t) {
  return is_residual(node, i) ? zeros_like(t) : Tensor();
}

// --- axes and order

bool swaps(const Site& site) {
  const Node& node = site.node;
  if (node.op == OpKind::softmax) return site.operands[0].rank() > 1;
  if (node.op == OpKind::matmul) {
    const Tensor& b = site.operands[1];
    return b.rank() == 2 && b.shape()[0] == b.shape()[1] && b.shape()[0] > 1;
  }
  if (node.op != OpKind::transpose || !site.results[0].defined()) return false;
  const Shape& shape = site.results[0].shape();
  std::set<std::int64_t> large;
  for (const std::int64_t extent : shape) {
    if (extent > 1 && !large.insert(extent).second) return true;
  }
  return false;
}
void axes_swapped(Graph& graph, Node& node) {
  if (node.op == OpKind::softmax) {
    const std::int64_t axis = node.attrs.integer("axis");
    node.attrs.set("axis", axis > 0 ? axis - 1 : axis + 1);
  } else if (node.op == OpKind::matmul) {
    node.attrs.set("trans_b", std::int64_t{1} - node.attrs.integer("trans_b", 0));
  } else {
    // Axes of the same extent, so that the shape stays.
    std::vector<std::int64_t> perm = node.attrs.integers("perm");
    const SymShape& shape = *graph.value(node.output()).shape;
    for (std::size_t i = 0; i < perm.size(); ++i) {
      for (std::size_t j = i + 1; j < perm.size(); ++j) {
        if (shape[i] == shape[j] && !(shape[i] == Dim(1))) {
          std::swap(perm[i], perm[j]);
          node.attrs.set("perm", perm);
          return;
        }
      }
    }
  }
}

bool concatenates_alike(const Site& site) {
  return site.node.op == OpKind::concat && site.operands.size() > 1 &&
         site.operands[0].shape() == site.operands[1].shape() && is_float_operand(site, 0);
}
void order_swapped(Graph&, Node& node) {
  std::swap(node.inputs[0], node.inputs[1]);
}

// --- attention

bool has_mask(const Site& site) {
  if (site.node.op == OpKind::select) return true;
  return site.node.op == OpKind::attention && site.operands.size() > 3 &&
         site.operands[3].defined();
}
Tensor mask_inverted(const Graph&, const Node& node, std::size_t i, const Tensor& t) {
  if (i != (node.op == OpKind::select ? 0u : 3u)) return {};
  if (t.dtype() == DataType::boolean) {
    Tensor inverted = t.clone();
    for (bool& b : inverted.as_mutable<bool>()) b = !b;
    return inverted;
  }
  double lowest = -1e4;
  for (std::int64_t e = 0; e < t.count(); ++e) lowest = std::min(lowest, t.at_double(e));
  return mapped(t, [&](std::int64_t, double v) { return v > lowest / 2 ? lowest : 0.0; });
}

bool has_scale(const Site& site) {
  const Node& node = site.node;
  if (node.op == OpKind::attention || node.op == OpKind::softmax) {
    return node.attrs.number("scale", 1) != 1;
  }
  if (node.op == OpKind::matmul) return node.attrs.number("alpha", 1) != 1;
  return node.op == OpKind::binary && node.attrs.text("fn") == "mul" && is_float_operand(site, 1) &&
         site.operands[1].count() == 1;
}
void scale_missing(Graph&, Node& node) {
  if (node.op == OpKind::matmul) {
    node.attrs.set("alpha", 1.0);
  } else if (node.op != OpKind::binary) {
    node.attrs.set("scale", 1.0);
  }
}
Tensor scale_is_one(const Graph&, const Node& node, std::size_t i, const Tensor& t) {
  if (node.op != OpKind::binary || i != 1) return {};
  return mapped(t, [](std::int64_t, double) { return 1.0; });
}

bool is_attention(const Site& site) {
  return site.node.op == OpKind::attention;
}
void causal_lost(Graph&, Node& node) {
  const bool causal = node.attrs.text("causal", "none") != "none";
  node.attrs.set("causal", std::string(causal ? "none" : "top_left"));
}

bool is_rotary(const Site& site) {
  return site.node.op == OpKind::rotary;
}
void rotary_spelling(Graph&, Node& node) {
  node.attrs.set("interleaved", std::int64_t{1} - node.attrs.integer("interleaved", 0));
}

// --- functions

bool is_gelu(std::string_view fn) {
  return fn == "gelu_erf" || fn == "gelu_tanh";
}
const char* function_attribute(const Node& node) {
  return node.op == OpKind::unary ? "fn" : "activation";
}
std::string function_of(const Node& node) {
  if (node.op != OpKind::unary && !is_product(node)) return "";
  return node.attrs.text(function_attribute(node), "");
}
bool has_gelu(const Site& site) {
  return is_gelu(function_of(site.node));
}
void gelu_spelling(Graph&, Node& node) {
  node.attrs.set(function_attribute(node),
                 std::string(function_of(node) == "gelu_erf" ? "gelu_tanh" : "gelu_erf"));
}
bool has_activation(const Site& site) {
  return !function_of(site.node).empty() && site.results[0].defined() &&
         is_float(site.results[0].dtype()) && is_float_operand(site, 0);
}
void activation_missing(Graph&, Node& node) {
  if (node.op == OpKind::unary) {
    node.attrs.set("fn", std::string("identity"));
  } else {
    node.attrs.erase("activation");
  }
}

// --- extents

bool sums_over_k(const Site& site) {
  return (is_product(site.node) || site.node.op == OpKind::attention) && is_float_operand(site, 1);
}
// The last term of each sum is left out, as a kernel does whose tail is wrong.
Tensor tail_dropped(const Graph&, const Node& node, std::size_t i, const Tensor& t) {
  std::size_t axis = 0;
  if (node.op == OpKind::matmul && i == 0) {
    axis = t.shape().size() - (node.attrs.integer("trans_a", 0) != 0 ? 2 : 1);
  } else if (node.op == OpKind::conv && i == 1) {
    axis = 1;
  } else if (node.op == OpKind::attention && i == 2) {
    axis = node.attrs.text("v_layout", "bhsd") == "bhsd" ? 2 : 1;
  } else {
    return {};
  }
  const std::int64_t stride = contiguous_strides(t.shape())[axis];
  const std::int64_t extent = t.shape()[axis];
  return mapped(
      t, [&](std::int64_t e, double v) { return e / stride % extent == extent - 1 ? 0.0 : v; });
}

bool has_indices(const Site& site) {
  return site.node.op == OpKind::gather && site.operands[1].dtype() == DataType::i64 &&
         site.operands[0].defined() &&
         site.operands[0].shape()[static_cast<std::size_t>(site.node.attrs.integer("axis"))] > 2;
}
Tensor index_off_by_one(const Graph&, const Node&, std::size_t i, const Tensor& t) {
  if (i != 1) return {};
  Tensor moved = t.clone();
  for (std::int64_t& index : moved.as_mutable<std::int64_t>()) index = index > 0 ? index - 1 : 1;
  return moved;
}

bool is_window(const Site& site) {
  return site.node.op == OpKind::conv && site.results[0].defined() &&
         site.operands[1].shape().back() > 1;
}
// The kernel is applied mirrored: convolution where ONNX means correlation.
Tensor kernel_mirrored(const Graph&, const Node&, std::size_t i, const Tensor& t) {
  if (i != 1) return {};
  const std::int64_t width = t.shape().back();
  return mapped(t, [&](std::int64_t e, double) {
    return t.at_double(e - e % width + width - 1 - e % width);
  });
}

constexpr FaultKind kKinds[] = {
    {"epsilon 10x", "a norm's epsilon is ten times what the model says", has_epsilon, epsilon_10x},
    {"bias dropped", "the bias of a product or norm is not added", has_bias, nullptr, bias_dropped},
    {"bias shifted", "the bias is read one element further", has_long_bias, nullptr, bias_shifted},
    {"gamma dropped", "a norm's weight is taken as 1", has_gamma, nullptr, gamma_dropped},
    {"residual dropped", "the residual is not added", has_residual, nullptr, residual_dropped},
    {"axes swapped", "two axes of equal extent, the weight's or softmax's axis", swaps,
     axes_swapped},
    {"order swapped", "concat takes its first two operands the other way round", concatenates_alike,
     order_swapped},
    {"mask inverted", "what may be seen is hidden, and the other way round", has_mask, nullptr,
     mask_inverted},
    {"scale missing", "a scale is taken as 1", has_scale, scale_missing, scale_is_one},
    {"causality", "attention is causal where it is not, or the other way round", is_attention,
     causal_lost},
    {"rotary spelling", "pairs interleaved instead of halves, or the other way round", is_rotary,
     rotary_spelling},
    {"GELU spelling", "erf instead of tanh, or the other way round", has_gelu, gelu_spelling},
    {"activation missing", "a function, alone or fused, is left out", has_activation,
     activation_missing},
    {"tail dropped", "the last term of each sum is left out", sums_over_k, nullptr, tail_dropped},
    {"index off by one", "a gather reads the row before", has_indices, nullptr, index_off_by_one},
    {"kernel mirrored", "a convolution's kernel is applied the other way round", is_window, nullptr,
     kernel_mirrored},
};

}  // namespace

std::span<const FaultKind> graph_kinds() {
  return kKinds;
}

}  // namespace concord::faults
