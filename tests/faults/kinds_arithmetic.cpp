// Faults of precision: the right formula, computed with fewer bits than are claimed.
#include <algorithm>
#include <cmath>

#include "backends/reference/matmul.h"
#include "backends/reference/oracle.h"
#include "tests/faults/fault.h"

namespace concord::faults {
namespace {

using graph::Graph;
using graph::Node;
using graph::OpKind;

bool is_f32(const Tensor& t) {
  return t.defined() && t.dtype() == DataType::f32;
}

bool multiplies_f32(const Site& site) {
  const OpKind op = site.node.op;
  return (op == OpKind::matmul || op == OpKind::conv || op == OpKind::attention) &&
         is_f32(site.operands[0]) && is_f32(site.operands[1]);
}
double to_tf32(double v) {
  if (v == 0 || !std::isfinite(v)) return v;
  int exponent = 0;
  const double fraction = std::frexp(v, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}
Tensor tf32_operands(const Graph&, const Node& node, std::size_t i, const Tensor& t) {
  if (i > (node.op == OpKind::attention ? 2u : 1u)) return {};
  return mapped(t, [](std::int64_t, double v) { return to_tf32(v); });
}

// Weights: constant operands of products, embeddings and cells.
bool is_weight(const Graph& graph, const Node& node, std::size_t i) {
  if (!node.has_input(i) || !graph.value(node.inputs[i]).is_constant()) return false;
  if (graph.value(node.inputs[i]).dtype != DataType::f32) return false;
  switch (node.op) {
    case OpKind::matmul:
    case OpKind::conv:
      return i == 1;
    case OpKind::gather:
      return i == 0;
    case OpKind::gru:
    case OpKind::lstm:
      return i == 1 || i == 2;
    default:
      return false;
  }
}
bool has_weights(const Site& site) {
  return is_weight(site.graph, site.node, 0) || is_weight(site.graph, site.node, 1);
}
Tensor weights_bf16(const Graph& graph, const Node& node, std::size_t i, const Tensor& t) {
  if (!is_weight(graph, node, i)) return {};
  return mapped(t, [](std::int64_t, double v) { return reference::round_to(DataType::bf16, v); });
}
Tensor weights_int8(const Graph& graph, const Node& node, std::size_t i, const Tensor& t) {
  if (!is_weight(graph, node, i)) return {};
  double largest = 0;
  for (std::int64_t e = 0; e < t.count(); ++e) {
    largest = std::max(largest, std::abs(t.at_double(e)));
  }
  const double scale = largest > 0 ? largest / 127 : 1;
  return mapped(t, [&](std::int64_t, double v) { return std::nearbyint(v / scale) * scale; });
}

bool is_f32_matmul(const Site& site) {
  return site.node.op == OpKind::matmul && is_f32(site.operands[0]) && is_f32(site.operands[1]);
}
// The product summed up in float16, then the epilogue: product × identity in the same node.
std::vector<Tensor> f16_sums(const Injection& in) {
  const Tensor& a = in.operands[0];
  const Tensor& b = in.operands[1];
  const reference::MatmulGeometry g(a.shape(), b.shape(), in.node.attrs.integer("trans_a", 0) != 0,
                                    in.node.attrs.integer("trans_b", 0) != 0);
  Tensor product(DataType::f32, g.shape);
  const auto to = product.as_mutable<float>();
  const auto x = a.as<float>();
  const auto y = b.as<float>();
  for (std::int64_t i = 0; i < g.batch; ++i) {
    const auto left = g.left_place(i);
    const auto right = g.right_place(i);
    for (std::int64_t row = 0; row < g.m; ++row) {
      for (std::int64_t column = 0; column < g.n; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < g.k; ++k) {
          const auto p = static_cast<std::size_t>(left.offset + row * left.row + k * left.column);
          const auto q =
              static_cast<std::size_t>(right.offset + k * right.row + column * right.column);
          sum = reference::round_to(DataType::f16, sum + static_cast<double>(x[p]) * y[q]);
        }
        to[static_cast<std::size_t>((i * g.m + row) * g.n + column)] = static_cast<float>(sum);
      }
    }
  }
  Tensor identity = Tensor::zeros(DataType::f32, {g.n, g.n});
  for (std::int64_t i = 0; i < g.n; ++i) {
    identity.as_mutable<float>()[static_cast<std::size_t>(i * g.n + i)] = 1;
  }
  Node node = in.node;
  node.attrs.set("trans_a", std::int64_t{0});
  node.attrs.set("trans_b", std::int64_t{0});
  std::vector<reference::OracleValue> operands;
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    const Tensor& t = i == 0 ? product : i == 1 ? identity : in.operands[i];
    operands.push_back(t.defined() ? reference::from_tensor(t) : reference::OracleValue());
  }
  return {reference::evaluate(in.graph, node, operands, {})[0].rounded()};
}

bool is_softmax(const Site& site) {
  return site.node.op == OpKind::softmax && is_f32(site.operands[0]) &&
         site.node.attrs.integer("axis") == site.operands[0].rank() - 1 &&
         site.node.attrs.integer("log", 0) == 0;
}
std::vector<Tensor> no_maximum(const Injection& in) {
  const Tensor& x = in.operands[0];
  const std::int64_t width = x.shape().back();
  const auto scale = static_cast<float>(in.node.attrs.number("scale", 1));
  Tensor y(DataType::f32, x.shape());
  const auto from = x.as<float>();
  const auto to = y.as_mutable<float>();
  for (std::size_t row = 0; row < from.size(); row += static_cast<std::size_t>(width)) {
    float sum = 0;
    for (std::size_t i = row; i < row + static_cast<std::size_t>(width); ++i) {
      to[i] = std::exp(scale * from[i]);
      sum += to[i];
    }
    for (std::size_t i = row; i < row + static_cast<std::size_t>(width); ++i) to[i] /= sum;
  }
  return {y};
}

bool is_function(const Site& site) {
  const OpKind op = site.node.op;
  const bool computes = op == OpKind::softmax || op == OpKind::attention ||
                        op == OpKind::layer_norm || op == OpKind::rms_norm || op == OpKind::gru ||
                        op == OpKind::lstm || (op == OpKind::unary && is_f32(site.operands[0]));
  return computes && is_f32(site.results[0]);
}
// A function good to 11 bits, as fast mathematics gives.
void fast_function(const Injection& in, std::vector<Tensor>& results) {
  results[0] = mapped(results[0], [&](std::int64_t i, double v) {
    const double wave =
        static_cast<double>(hash(in.seed, static_cast<std::uint64_t>(i)) >> 40) * 0x1p-23 - 1;
    return v * (1 + 0x1p-11 * wave);
  });
}

bool is_plain_norm(const Site& site) {
  return site.node.op == OpKind::layer_norm && is_f32(site.operands[0]) &&
         site.results[0].defined() && !site.node.output(1).valid();
}
// E[x²] − E[x]² in float32, in one pass.
std::vector<Tensor> one_pass(const Injection& in) {
  const Tensor& x = in.operands[0];
  const auto axis = static_cast<std::size_t>(in.node.attrs.integer("axis"));
  std::int64_t width = 1;
  for (std::size_t i = axis; i < x.shape().size(); ++i) width *= x.shape()[i];
  const auto operand = [&](std::size_t i) {
    return i < in.operands.size() ? in.operands[i] : Tensor();
  };
  const Tensor gamma = operand(1);
  const Tensor beta = operand(2);
  const Tensor residual = operand(3);
  const auto at = [](const Tensor& t, std::int64_t i) {
    return static_cast<float>(t.at_double(i % t.count()));
  };
  Tensor y(DataType::f32, x.shape());
  const auto to = y.as_mutable<float>();
  for (std::int64_t row = 0; row < x.count(); row += width) {
    float sum = 0;
    float squares = 0;
    for (std::int64_t i = row; i < row + width; ++i) {
      const float v = at(x, i) + (residual.defined() ? at(residual, i) : 0.0f);
      sum += v;
      squares += v * v;
    }
    const float mean = sum / static_cast<float>(width);
    const float variance = squares / static_cast<float>(width) - mean * mean;
    const float scale =
        1 / std::sqrt(variance + static_cast<float>(in.node.attrs.number("epsilon")));
    for (std::int64_t i = row; i < row + width; ++i) {
      float v = at(x, i) + (residual.defined() ? at(residual, i) : 0.0f);
      v = (v - mean) * scale;
      if (gamma.defined()) v *= at(gamma, i - row);
      if (beta.defined()) v += at(beta, i - row);
      to[static_cast<std::size_t>(i)] = v;
    }
  }
  return {y};
}

constexpr FaultKind kKinds[] = {
    {"TF32 operands", "products of numbers with 11 bits where float32 is claimed", multiplies_f32,
     nullptr, tf32_operands},
    {"weights in bfloat16", "weights rounded to bfloat16", has_weights, nullptr, weights_bf16},
    {"weights in int8", "weights rounded to 8 bits", has_weights, nullptr, weights_int8},
    {"float16 sums", "a product is summed up in float16", is_f32_matmul, nullptr, nullptr,
     f16_sums},
    {"no maximum", "softmax does not subtract the maximum", is_softmax, nullptr, nullptr,
     no_maximum},
    {"fast function", "a function has 11 good bits", is_function, nullptr, nullptr, nullptr,
     fast_function},
    {"one-pass variance", "a norm computes E[x²] − E[x]² in float32", is_plain_norm, nullptr,
     nullptr, one_pass},
};

}  // namespace

std::span<const FaultKind> arithmetic_kinds() {
  return kKinds;
}

}  // namespace concord::faults
