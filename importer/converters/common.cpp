#include "importer/converters/common.h"

#include <algorithm>
#include <cctype>

namespace concord::importer {

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char ch) { return static_cast<char>(std::tolower(ch)); });
  return result;
}

Tensor list_of(const Texts& texts) {
  Tensor result(DataType::string, {static_cast<std::int64_t>(texts.size())});
  std::copy(texts.begin(), texts.end(), result.mutable_strings().begin());
  return result;
}

ValueId activate(Conversion& c, const std::string& name, ValueId x, std::optional<double> alpha,
                 std::optional<double> beta) {
  if (name.empty()) return x;
  if (name == "Relu") return c.unary(UnaryFn::relu, x);
  if (name == "Tanh") return c.unary(UnaryFn::tanh, x);
  if (name == "Sigmoid") return c.unary(UnaryFn::sigmoid, x);
  if (name == "LeakyRelu") return c.unary(UnaryFn::leaky_relu, x, alpha.value_or(0.01F));
  if (name == "HardSigmoid") {
    return c.unary(UnaryFn::hard_sigmoid, x, alpha.value_or(0.2F), beta.value_or(0.5));
  }
  if (name == "HardSwish") return c.unary(UnaryFn::hard_swish, x);
  if (name == "Elu") return c.unary(UnaryFn::elu, x, alpha.value_or(1.0));
  if (name == "Softplus") return c.unary(UnaryFn::softplus, x);
  if (name == "Softsign") return c.unary(UnaryFn::softsign, x);
  if (name == "Gelu") return c.unary(UnaryFn::gelu_erf, x);
  if (name == "ThresholdedRelu") {
    return c.unary(UnaryFn::thresholded_relu, x, alpha.value_or(1.0));
  }
  if (name == "Clip" && alpha && beta) {
    return c.binary(BinaryFn::min, c.binary(BinaryFn::max, x, *alpha), *beta);
  }
  c.unsupported("activation '" + name + "'");
}

std::vector<std::int64_t> integers_or(Conversion& c, std::string_view name, std::size_t length,
                                      std::int64_t otherwise) {
  const auto given = c.integers(name);
  if (!given || given->empty()) return std::vector<std::int64_t>(length, otherwise);
  if (given->size() != length) {
    c.invalid("attribute '" + std::string(name) + "' has " + std::to_string(given->size()) +
              " numbers, expected " + std::to_string(length));
  }
  return *given;
}

void read_window(Conversion& c, Attributes& attrs) {
  const std::string auto_pad = lower_case(c.text("auto_pad", "NOTSET"));
  if (auto_pad != "notset" && auto_pad != "valid" && auto_pad != "same_upper" &&
      auto_pad != "same_lower") {
    c.invalid("attribute 'auto_pad' is '" + auto_pad +
              "', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  attrs.set("auto_pad", auto_pad);
  if (const auto strides = c.integers("strides")) attrs.set("strides", *strides);
  if (const auto dilations = c.integers("dilations")) attrs.set("dilations", *dilations);
  const auto pads = c.integers("pads");
  if (pads && auto_pad == "notset") attrs.set("pads", *pads);
}

ValueId numpy_matmul(Conversion& c, ValueId a, ValueId b,
                     const std::function<ValueId(ValueId, ValueId)>& product) {
  const bool row = c.rank(a) == 1;
  const bool column = c.rank(b) == 1;
  if (c.rank(a) == 0 || c.rank(b) == 0)
    c.invalid("an operand is a scalar, expected rank 1 or more");
  const ValueId y = product(row ? c.unsqueeze(a, {0}) : a, column ? c.unsqueeze(b, {1}) : b);
  if (!row && !column) return y;
  SymShape shape = c.known_shape(y);
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return c.reshape(y, std::move(shape));
}

namespace {

// Whether the tensor is exactly as large as the normalised axes: what the core operators take.
bool covers(Conversion& c, ValueId x, ValueId weight, std::int64_t axis) {
  const auto& shape = c.shape(x);
  const auto& own = c.shape(weight);
  if (!shape || !own || c.dtype(x) != c.dtype(weight)) return false;
  return std::equal(own->begin(), own->end(), shape->begin() + axis, shape->end(),
                    [](const Dim& a, const Dim& b) {
                      return a == b || (a.is_constant() && !a.is_constant(1) && !b.is_constant());
                    });
}

// The weight with the leading ones dropped that broadcasting does not need.
ValueId without_leading_ones(Conversion& c, ValueId x, ValueId weight, std::int64_t axis) {
  if (!weight.valid() || !c.shape(weight) || !c.shape(x)) return weight;
  SymShape shape = *c.shape(weight);
  const std::size_t wanted = c.shape(x)->size() - static_cast<std::size_t>(axis);
  while (shape.size() > wanted && shape.front().is_constant(1)) shape.erase(shape.begin());
  return c.reshape(weight, std::move(shape));
}

}  // namespace

ValueId layer_norm(Conversion& c, ValueId x, ValueId gamma, ValueId beta, std::int64_t axis,
                   double epsilon) {
  gamma = without_leading_ones(c, x, gamma, axis);
  beta = without_leading_ones(c, x, beta, axis);
  const bool with_gamma = gamma.valid() && covers(c, x, gamma, axis);
  const bool with_beta = beta.valid() && covers(c, x, beta, axis) && (with_gamma || !gamma.valid());
  ValueId y =
      c.emit(OpKind::layer_norm, {x, with_gamma ? gamma : ValueId{}, with_beta ? beta : ValueId{}},
             {{"axis", axis}, {"epsilon", epsilon}});
  if (gamma.valid() && !with_gamma) y = c.binary(BinaryFn::mul, y, gamma);
  if (beta.valid() && !with_beta) y = c.binary(BinaryFn::add, y, beta);
  return y;
}

ValueId rms_norm(Conversion& c, ValueId x, ValueId gamma, std::int64_t axis, double epsilon) {
  gamma = without_leading_ones(c, x, gamma, axis);
  const bool with_gamma = gamma.valid() && covers(c, x, gamma, axis);
  ValueId y = c.emit(OpKind::rms_norm, {x, with_gamma ? gamma : ValueId{}},
                     {{"axis", axis}, {"epsilon", epsilon}});
  if (gamma.valid() && !with_gamma) y = c.binary(BinaryFn::mul, y, gamma);
  return y;
}

ValueId dequantize(Conversion& c, ValueId x, ValueId scale, ValueId zero_point, std::int64_t axis,
                   std::int64_t block_size, DataType to) {
  return c.emit(OpKind::dequantize, {x, scale, zero_point},
                {{"axis", axis},
                 {"block_size", block_size},
                 {"to", to == DataType::undefined ? c.dtype(scale) : to}});
}

ValueId quantize(Conversion& c, ValueId x, ValueId scale, ValueId zero_point, DataType to,
                 std::int64_t axis, std::int64_t block_size, bool saturate) {
  return c.emit(OpKind::quantize, {x, scale, zero_point},
                {{"axis", axis},
                 {"block_size", block_size},
                 {"to", to},
                 {"saturate", std::int64_t{saturate ? 1 : 0}}});
}

ValueId emit_attention(Conversion& c, const AttentionOperands& o) {
  return c.emit(OpKind::attention, {o.q, o.k, o.v, o.mask, o.kv_lengths},
                {{"q_layout", o.q_layout},
                 {"k_layout", o.k_layout},
                 {"v_layout", o.v_layout},
                 {"y_layout", o.y_layout},
                 {"scale", o.scale},
                 {"causal", o.causal},
                 {"window", o.window},
                 {"softcap", o.softcap},
                 {"nan_to_zero", std::int64_t{0}},
                 {"softmax_precision", o.softmax_precision}});
}

ValueId split_heads(Conversion& c, ValueId x, std::int64_t heads) {
  const SymShape shape = c.known_shape(x);
  if (shape.size() != 3 || heads < 1) {
    c.invalid("expects rank 3 and a positive number of heads, found " +
              to_string(std::span<const Dim>(shape)) + " and " + std::to_string(heads));
  }
  const auto width = shape[2].constant();
  if (width && *width % heads != 0) {
    c.invalid("a width of " + std::to_string(*width) + " is no multiple of " +
              std::to_string(heads) + " heads");
  }
  return c.reshape(x, {shape[0], shape[1], heads, Dim::floor_div(shape[2], heads)});
}

ValueId merge_heads(Conversion& c, ValueId x) {
  const SymShape shape = c.known_shape(x);
  return c.reshape(x, {shape[0], shape[1], shape[2] * shape[3]});
}

}  // namespace concord::importer
