// Layers with a state that is handed from call to call.
#include <cmath>

#include "importer/converter_table.h"

namespace concord::importer {
namespace {

void linear_attention(Conversion& c) {
  c.ignore({"chunk_size"});
  const std::int64_t q_heads = c.integer("q_num_heads");
  const std::int64_t kv_heads = c.integer("kv_num_heads");
  const std::string rule = c.text("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta";
  const bool delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear") {
    c.invalid("attribute 'update_rule' is '" + rule +
              "', expected linear, gated, delta or gated_delta");
  }
  if (gated != c.has_input(4)) {
    c.invalid("update_rule '" + rule + "' " + (gated ? "needs a" : "has no") + " decay");
  }
  if (delta != c.has_input(5)) {
    c.invalid("update_rule '" + rule + "' " + (delta ? "needs a" : "has no") + " beta");
  }
  double scale = c.number("scale", 0.0);
  if (scale == 0) {
    const SymShape shape = c.known_shape(c.input(0));
    const auto width = shape.empty() ? std::nullopt : shape.back().constant();
    if (!width || q_heads < 1) c.unsupported("a head size that is known only when running");
    const std::int64_t head_size = *width / q_heads;
    scale = 1 / std::sqrt(static_cast<double>(head_size));
  }
  const auto results =
      c.emit_many(OpKind::linear_attention,
                  {c.input(0), c.input(1), c.input(2), c.optional_input(3), c.optional_input(4),
                   c.optional_input(5)},
                  {{"q_heads", q_heads}, {"kv_heads", kv_heads}, {"scale", scale}},
                  c.wants_output(1) ? std::vector<bool>{true, true} : std::vector<bool>{true});
  c.output(0, results[0]);
  if (results.size() > 1) c.output(1, results[1]);
}

// A depthwise convolution of the state and the input behind it; the end of both is the next state.
void causal_conv_with_state(Conversion& c) {
  const ValueId x = c.input(0);       // [B, C, n]
  const ValueId weight = c.input(1);  // [C, 1, k]
  const SymShape shape = c.known_shape(x);
  const SymShape window = c.known_shape(weight);
  if (shape.size() != 3 || window.size() != 3) c.invalid("expects input and weight of rank 3");
  const auto channels = window[0].constant();
  const auto k = window[2].constant();
  if (!channels || !k) c.unsupported("a weight whose shape is known only when running");
  if (*channels < 1 || *k < 1) c.invalid("the weight is empty");
  const std::int64_t kept = *k - 1;
  const ValueId padded =
      c.has_input(3)
          ? c.concat({c.input(3), x}, 2)
          : c.emit(OpKind::pad, {x},
                   {{"pads", SymShape{0, 0, kept, 0, 0, 0}}, {"mode", std::string("constant")}});
  ValueId y = c.emit(OpKind::conv, {padded, weight, c.optional_input(2)}, {{"group", *channels}});
  const std::string activation = c.text("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = c.unary(UnaryFn::silu, y);
  } else if (activation != "none") {
    c.invalid("attribute 'activation' is '" + activation + "', expected none, silu or swish");
  }
  c.output(0, y);
  if (c.wants_output(1)) {
    const Dim end = c.known_shape(padded)[2];
    c.output(1, c.slice(padded, 2, end - Dim(kept), end));
  }
}

constexpr Converter kConverters[] = {
    {kOnnx, "CausalConvWithState", 27, kLatest, causal_conv_with_state},
    {kOnnx, "LinearAttention", 27, kLatest, linear_attention},
};

}  // namespace

std::span<const Converter> linear_attention_converters() {
  return kConverters;
}

}  // namespace concord::importer
