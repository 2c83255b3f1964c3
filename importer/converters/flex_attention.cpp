// ai.onnx.preview's attention with functions of the scores and of the probabilities in between.
#include <cmath>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

ValueId modified(Conversion& c, std::string_view body, ValueId x) {
  if (!c.has_attribute(body)) return x;
  const ValueId arguments[] = {x};
  const std::vector<ValueId> results = c.inline_body(body, arguments);
  if (results.size() != 1) c.invalid("body '" + std::string(body) + "' has more than one output");
  const ValueId y = results.front();
  if (c.dtype(y) != c.dtype(x)) {
    c.invalid("body '" + std::string(body) + "' turns " + std::string(to_string(c.dtype(x))) +
              " into " + std::string(to_string(c.dtype(y))));
  }
  return y;
}

// q [B, Hq, L, D], k [B, H, S, D], v [B, H, S, E]: the query heads of a group share a key head.
void flex_attention(Conversion& c) {
  const ValueId q = c.input(0);
  const ValueId k = c.input(1);
  const ValueId v = c.input(2);
  const DataType type = c.dtype(q);
  const SymShape qs = c.known_shape(q);
  const SymShape ks = c.known_shape(k);
  const SymShape vs = c.known_shape(v);
  if (qs.size() != 4 || ks.size() != 4 || vs.size() != 4) c.invalid("expects operands of rank 4");
  double scale = 0;
  if (c.has_attribute("scale")) {
    scale = c.number("scale");
  } else {
    const auto depth = qs[3].constant();
    if (!depth || *depth < 1) c.unsupported("a head size that is known only when running");
    scale = 1 / std::sqrt(static_cast<double>(*depth));
  }
  const std::int64_t number = c.integer("softmax_precision", 0);
  DataType precision = type == DataType::f64 ? type : DataType::f32;
  if (number != 0) {
    precision = static_cast<DataType>(number);
    if (number < 0 || number > static_cast<std::int64_t>(DataType::i2) || !is_float(precision)) {
      c.invalid("attribute 'softmax_precision' is " + std::to_string(number) + ", no float type");
    }
  }
  const auto q_heads = qs[1].constant();
  const auto heads = ks[1].constant();
  if (q_heads && heads && (*heads < 1 || *q_heads % *heads != 0)) {
    c.invalid(std::to_string(*q_heads) + " query heads for " + std::to_string(*heads) + " others");
  }
  const Dim group = Dim::floor_div(qs[1], ks[1]);
  const ValueId grouped = c.reshape(q, {qs[0], ks[1], group, qs[2], qs[3]});
  const ValueId keys = c.reshape(k, {ks[0], ks[1], 1, ks[2], ks[3]});
  const ValueId values = c.reshape(v, {vs[0], vs[1], 1, vs[2], vs[3]});
  const ValueId scores =
      c.reshape(c.matmul(grouped, keys, {}, scale, false, true), {qs[0], qs[1], qs[2], ks[2]});
  const ValueId weights = c.emit(
      OpKind::softmax, {modified(c, "score_mod", c.cast(scores, precision))},
      {{"axis", std::int64_t{3}}, {"log", std::int64_t{0}}, {"nan_to_zero", std::int64_t{0}}});
  const ValueId probabilities = c.cast(modified(c, "prob_mod", weights), type);
  const ValueId y = c.matmul(c.reshape(probabilities, {qs[0], ks[1], group, qs[2], ks[2]}), values);
  c.output(0, c.reshape(y, {qs[0], qs[1], qs[2], vs[3]}));
}

constexpr Converter kConverters[] = {
    {kPreview, "FlexAttention", 1, kLatest, flex_attention},
};

}  // namespace

std::span<const Converter> flex_attention_converters() {
  return kConverters;
}

}  // namespace concord::importer
