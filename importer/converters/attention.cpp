#include <cmath>
#include <limits>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

DataType precision_of(Conversion& c) {
  const std::int64_t number = c.integer("softmax_precision", 0);
  if (number < 0 || number > static_cast<std::int64_t>(DataType::i2)) {
    c.invalid("attribute 'softmax_precision' is " + std::to_string(number) + ", no data type");
  }
  const auto type = static_cast<DataType>(number);
  if (number != 0 && !is_float(type)) c.invalid("attribute 'softmax_precision' is no float type");
  return type;
}

// Key j is visible to query i if j ≤ i + past: a bool mask [S, T].
ValueId causal_mask(Conversion& c, const Dim& queries, const Dim& keys, const Dim& past) {
  const ValueId columns = c.reshape(c.iota(keys), {1, keys});
  // past, past + 1, …: the tail of 0 … past + queries − 1.
  const ValueId all = c.iota(past + queries);
  const ValueId rows = past.is_constant(0) ? all : c.slice(all, 0, past, past + queries);
  return c.binary(BinaryFn::less_equal, columns, c.reshape(rows, {queries, 1}));
}

// Fills up the last axis of a mask that is shorter than the keys with "may not see".
ValueId widen_mask(Conversion& c, ValueId mask, const Dim& keys) {
  if (!mask.valid() || !c.shape(mask) || c.shape(mask)->empty()) return mask;
  const SymShape shape = *c.shape(mask);
  const auto missing = (keys - shape.back()).constant();
  if (!missing || *missing <= 0) return mask;
  SymShape pads(2 * shape.size(), Dim(0));
  pads.back() = Dim(*missing);
  const bool is_bool = c.dtype(mask) == DataType::boolean;
  const ValueId fill =
      c.make_scalar(is_bool ? 0 : -std::numeric_limits<double>::infinity(), c.dtype(mask));
  return c.emit(OpKind::pad, {mask, ValueId{}, fill},
                {{"pads", pads}, {"mode", std::string("constant")}});
}

// [B, H, S, D] with each key head repeated for its group of query heads.
ValueId repeat_heads(Conversion& c, ValueId x, const Dim& heads) {
  const SymShape s = c.known_shape(x);
  if (s[1] == heads) return x;
  const Dim group = Dim::floor_div(heads, s[1]);
  const ValueId spread =
      c.broadcast(c.reshape(x, {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], group, s[2], s[3]});
  return c.reshape(spread, {s[0], heads, s[2], s[3]});
}

// Attention from its parts, where the scores are wanted as an output too. All operands bhsd.
void attention_with_scores(Conversion& c, const AttentionOperands& o, const Dim& past, bool causal,
                           bool flat) {
  const std::int64_t mode = c.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    c.invalid("attribute 'qk_matmul_output_mode' is " + std::to_string(mode));
  const SymShape q = c.known_shape(o.q);
  const ValueId k = repeat_heads(c, o.k, q[1]);
  const ValueId v = repeat_heads(c, o.v, q[1]);
  const Dim keys = c.known_shape(k)[2];
  ValueId scores = c.matmul(o.q, k, {}, o.scale, false, true);
  if (mode == 0) c.output(3, scores);
  if (o.softcap != 0) {
    scores =
        c.binary(BinaryFn::mul, c.unary(UnaryFn::tanh, c.binary(BinaryFn::div, scores, o.softcap)),
                 o.softcap);
  }
  if (mode == 1) c.output(3, scores);
  const ValueId never = c.make_scalar(-std::numeric_limits<double>::infinity(), c.dtype(scores));
  const auto keep = [&](ValueId visible) { scores = c.select(visible, scores, never); };
  if (o.mask.valid() && c.dtype(o.mask) == DataType::boolean) {
    keep(o.mask);
  } else if (o.mask.valid()) {
    scores = c.binary(BinaryFn::add, scores, o.mask);
  }
  if (causal) keep(causal_mask(c, q[2], keys, past));
  if (o.kv_lengths.valid()) {
    const ValueId lengths = c.reshape(c.cast(o.kv_lengths, DataType::i64), {q[0], 1, 1, 1});
    keep(c.binary(BinaryFn::less, c.iota(keys), lengths));
  }
  if (mode == 2) c.output(3, scores);
  const DataType type = c.dtype(scores);
  const DataType inner = o.softmax_precision == DataType::undefined ? type : o.softmax_precision;
  ValueId weights = c.emit(
      OpKind::softmax, {c.cast(scores, inner)},
      {{"axis", std::int64_t{3}}, {"log", std::int64_t{0}}, {"nan_to_zero", std::int64_t{0}}});
  weights = c.cast(weights, type);
  if (mode == 3) c.output(3, weights);
  const ValueId y = c.matmul(weights, v);
  c.output(0, flat ? merge_heads(c, c.transpose(y, {0, 2, 1, 3})) : y);
}

void attention(Conversion& c) {
  AttentionOperands o;
  o.q = c.input(0);
  o.k = c.input(1);
  o.v = c.input(2);
  o.softcap = c.number("softcap", 0.0);
  o.softmax_precision = precision_of(c);
  const bool causal = c.flag("is_causal");
  const bool scores = c.wants_output(3);
  const bool flat = c.known_rank(o.q) == 3;
  if (c.known_rank(o.k) != c.known_rank(o.q) || c.known_rank(o.v) != c.known_rank(o.q)) {
    c.invalid("query, key and value have different ranks");
  }
  c.ignore({"qk_matmul_output_mode", "q_num_heads", "kv_num_heads"});
  std::string layout = "bhsd";
  if (flat) {
    o.q = split_heads(c, o.q, c.integer("q_num_heads"));
    o.k = split_heads(c, o.k, c.integer("kv_num_heads"));
    o.v = split_heads(c, o.v, c.integer("kv_num_heads"));
    layout = "bshd";
  }
  const bool with_past = c.has_input(4) && c.has_input(5);
  if (c.has_input(4) != c.has_input(5)) c.invalid("it has a past key or value, expected both");
  const Dim new_keys = c.known_shape(o.k)[flat ? 1 : 2];
  const auto heads_first = [&](ValueId x) { return flat ? c.transpose(x, {0, 2, 1, 3}) : x; };
  if (flat && (with_past || scores || c.wants_output(1) || c.wants_output(2))) {
    o.k = heads_first(o.k);
    o.v = heads_first(o.v);
    o.k_layout = o.v_layout = "bhsd";
  } else {
    o.k_layout = o.v_layout = layout;
  }
  Dim past(0);
  if (with_past) {
    past = c.known_shape(c.input(4)).at(2);
    o.k = c.concat({c.input(4), o.k}, 2);
    o.v = c.concat({c.input(5), o.v}, 2);
  }
  c.output(1, o.k);
  c.output(2, o.v);

  o.q_layout = o.y_layout = layout;
  const SymShape q = c.known_shape(o.q);
  const Dim& queries = q[flat ? 1 : 2];
  const auto depth = q[3].constant();
  if (c.has_attribute("scale")) {
    o.scale = c.number("scale");
  } else if (depth && *depth > 0) {
    o.scale = 1.0 / std::sqrt(static_cast<double>(*depth));
  } else {
    c.unsupported("a head size that is known only when running");
  }
  const Dim keys = past + new_keys;
  o.mask = widen_mask(c, c.optional_input(3), keys);
  o.kv_lengths = c.optional_input(6);
  if (scores) {
    if (flat) o.q = heads_first(o.q);
    return attention_with_scores(c, o, past, causal, flat);
  }
  if (o.kv_lengths.valid()) o.kv_lengths = c.cast(o.kv_lengths, DataType::i64);
  if (causal && past.is_constant(0)) {
    o.causal = "top_left";
  } else if (causal && queries == new_keys) {
    o.causal = "bottom_right";
  } else if (causal) {
    const ValueId visible = causal_mask(c, queries, keys, past);
    if (!o.mask.valid()) {
      o.mask = visible;
    } else if (c.dtype(o.mask) == DataType::boolean) {
      o.mask = c.binary(BinaryFn::logical_and, o.mask, visible);
    } else {
      const double never = -std::numeric_limits<double>::infinity();
      o.mask = c.select(visible, o.mask, c.make_scalar(never, c.dtype(o.mask)));
    }
  }
  const ValueId y = emit_attention(c, o);
  c.output(0, flat ? merge_heads(c, y) : y);
}

void rotary_embedding(Conversion& c) {
  ValueId x = c.input(0);
  const bool flat = c.known_rank(x) == 3;
  if (flat) x = split_heads(c, x, c.integer("num_heads"));
  c.ignore({"num_heads"});
  ValueId positions = c.optional_input(3);
  if (positions.valid()) positions = c.cast(positions, DataType::i64);
  const ValueId y = c.emit(OpKind::rotary, {x, c.input(1), c.input(2), positions},
                           {{"layout", std::string(flat ? "bshd" : "bhsd")},
                            {"rotary_dim", c.integer("rotary_embedding_dim", 0)},
                            {"interleaved", std::int64_t{c.flag("interleaved") ? 1 : 0}}});
  c.output(0, flat ? merge_heads(c, y) : y);
}

constexpr Converter kConverters[] = {
    {kOnnx, "Attention", 23, kLatest, attention},
    {kOnnx, "RotaryEmbedding", 23, kLatest, rotary_embedding},
};

}  // namespace

std::span<const Converter> attention_converters() {
  return kConverters;
}

}  // namespace concord::importer
