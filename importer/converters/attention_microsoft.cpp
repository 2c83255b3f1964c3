#include <cmath>
#include <limits>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

double default_scale(Conversion& c, const Dim& depth) {
  const double given = c.number("scale", 0.0);
  if (given != 0) return given;
  const auto known = depth.constant();
  if (!known || *known < 1) c.unsupported("a head size that is known only when running");
  return 1.0 / std::sqrt(static_cast<double>(*known));
}

// What is added to the scores for a mask of onnxruntime's kinds: the filter value where a key is
// hidden, else 0. Shapes: [B] lengths, [2B] ends and starts, [B, T], [B, S, T].
ValueId additive_mask(Conversion& c, ValueId mask, const Dim& batch, const Dim& keys,
                      DataType type) {
  const double filter = c.number("mask_filter_value", -10000.0);
  const SymShape shape = c.known_shape(mask);
  ValueId visible;
  if (shape.size() == 1) {
    const ValueId positions = c.iota(keys);
    const auto column = [&](ValueId v) {
      return c.reshape(c.cast(v, DataType::i64), {batch, 1, 1, 1});
    };
    if (shape[0] == batch) {
      visible = c.binary(BinaryFn::less, positions, column(mask));
    } else if (shape[0] == batch * Dim(2)) {
      const ValueId ends = column(c.slice(mask, 0, 0, batch));
      const ValueId starts = column(c.slice(mask, 0, batch, batch * Dim(2)));
      visible = c.binary(BinaryFn::logical_and, c.binary(BinaryFn::less, positions, ends),
                         c.binary(BinaryFn::greater_equal, positions, starts));
    } else {
      c.unsupported("a mask of shape " + to_string(std::span<const Dim>(shape)));
    }
  } else if (shape.size() == 2 || shape.size() == 3) {
    const SymShape spread = shape.size() == 2 ? SymShape{shape[0], 1, 1, shape[1]}
                                              : SymShape{shape[0], 1, shape[1], shape[2]};
    const ValueId zero = c.make_scalar(0, c.dtype(mask));
    visible = c.reshape(
        c.dtype(mask) == DataType::boolean ? mask : c.binary(BinaryFn::greater, mask, zero),
        spread);
  } else {
    c.unsupported("a mask of rank " + std::to_string(shape.size()));
  }
  return c.select(visible, c.make_scalar(0, type), c.make_scalar(filter, type));
}

// com.microsoft's Attention after its projection: q, k, v [B, S, H·D].
void finish_attention(Conversion& c, ValueId q, ValueId k, ValueId v, ValueId mask, ValueId past,
                      ValueId bias) {
  const std::int64_t heads = c.integer("num_heads");
  const DataType type = c.dtype(q);
  AttentionOperands o;
  o.q = split_heads(c, q, heads);
  o.k = split_heads(c, k, heads);
  o.v = split_heads(c, v, heads);
  o.q_layout = o.k_layout = o.v_layout = o.y_layout = "bshd";
  const SymShape shape = c.known_shape(o.q);
  o.scale = default_scale(c, shape[3]);
  if (past.valid() || c.wants_output(1)) {
    // past and present: [2, B, H, P, D], keys then values.
    o.k = c.transpose(o.k, {0, 2, 1, 3});
    o.v = c.transpose(o.v, {0, 2, 1, 3});
    o.k_layout = o.v_layout = "bhsd";
    const auto half = [&](std::int64_t i) {
      const SymShape all = c.known_shape(past);
      return c.reshape(c.slice(past, 0, i, i + 1), SymShape(all.begin() + 1, all.end()));
    };
    if (past.valid()) {
      o.k = c.concat({half(0), o.k}, 2);
      o.v = c.concat({half(1), o.v}, 2);
    }
    if (c.wants_output(1)) {
      c.output(1, c.concat({c.unsqueeze(o.k, {0}), c.unsqueeze(o.v, {0})}, 0));
    }
  }
  const Dim keys = c.known_shape(o.k)[o.k_layout == "bhsd" ? 2 : 1];
  if (mask.valid()) o.mask = additive_mask(c, mask, shape[0], keys, type);
  c.ignore({"mask_filter_value"});
  if (bias.valid()) o.mask = o.mask.valid() ? c.binary(BinaryFn::add, o.mask, bias) : bias;
  if (c.flag("unidirectional")) o.causal = "bottom_right";
  c.output(0, merge_heads(c, emit_attention(c, o)));
}

// [B, S, Q + K + V] into its three parts.
std::vector<ValueId> split_projection(Conversion& c, ValueId all) {
  const auto width = c.known_shape(all)[2].constant();
  std::vector<std::int64_t> sizes =
      c.integers("qkv_hidden_sizes").value_or(std::vector<std::int64_t>{});
  if (sizes.empty()) {
    if (!width) c.unsupported("a hidden size that is known only when running");
    if (*width % 3 != 0) c.invalid("a projection of width " + std::to_string(*width));
    sizes.assign(3, *width / 3);
  }
  if (sizes.size() != 3) c.invalid("attribute 'qkv_hidden_sizes' has not three elements");
  return c.emit_many(OpKind::split, {all, c.make_integers(sizes)}, {{"axis", std::int64_t{2}}},
                     {true, true, true});
}

void check_attention(Conversion& c) {
  if (c.flag("do_rotary") || c.flag("past_present_share_buffer")) {
    c.unsupported("do_rotary or past_present_share_buffer");
  }
  c.ignore({"rotary_embedding_dim"});
}

void attention(Conversion& c) {
  check_attention(c);
  const auto parts = split_projection(c, c.matmul(c.input(0), c.input(1), c.optional_input(2)));
  finish_attention(c, parts[0], parts[1], parts[2], c.optional_input(3), c.optional_input(4),
                   c.optional_input(5));
}

// The projection from bytes: exact products, then scaled.
void quantised_attention(Conversion& c) {
  check_attention(c);
  const ValueId sum = c.emit(OpKind::matmul_integer,
                             {c.input(0), c.input(1), c.optional_input(6), c.optional_input(7)});
  const ValueId scale = c.binary(BinaryFn::mul, c.input(3), c.input(4));
  ValueId all = c.binary(BinaryFn::mul, c.cast(sum, c.dtype(scale)), scale);
  if (c.has_input(2)) all = c.binary(BinaryFn::add, all, c.input(2));
  const auto parts = split_projection(c, all);
  finish_attention(c, parts[0], parts[1], parts[2], c.optional_input(5), c.optional_input(8), {});
}

// The tokens of all sequences behind each other, without padding: [tokens, hidden]. A token sees
// those of its own sequence, which begins and ends where input 4 says.
void packed_attention(Conversion& c) {
  const ValueId x = c.unsqueeze(c.input(0), {0});
  const auto parts = split_projection(c, c.matmul(x, c.input(1), c.optional_input(2)));
  const std::int64_t heads = c.integer("num_heads");
  AttentionOperands o;
  o.q = split_heads(c, parts[0], heads);
  o.k = split_heads(c, parts[1], heads);
  o.v = split_heads(c, parts[2], heads);
  o.q_layout = o.k_layout = o.v_layout = o.y_layout = "bshd";
  const SymShape shape = c.known_shape(o.q);
  o.scale = default_scale(c, shape[3]);
  const ValueId positions = c.cast(c.iota(shape[1]), c.dtype(c.input(4)));
  const ValueId passed =
      c.binary(BinaryFn::less_equal, c.unsqueeze(c.input(4), {0}), c.unsqueeze(positions, {1}));
  const ValueId sequence = c.reduce(ReduceFn::sum, c.cast(passed, DataType::i32), {1}, false);
  o.mask = c.binary(BinaryFn::equal, c.unsqueeze(sequence, {1}), c.unsqueeze(sequence, {0}));
  if (c.has_input(5)) c.unsupported("an attention bias");
  const ValueId y = merge_heads(c, emit_attention(c, o));
  const SymShape merged = c.known_shape(y);
  c.output(0, c.reshape(y, {merged[1], merged[2]}));
}

void multi_head_attention(Conversion& c) {
  const std::int64_t heads = c.integer("num_heads");
  if (heads < 1) c.invalid("attribute 'num_heads' is " + std::to_string(heads));
  if (c.has_input(8) || c.has_input(9)) c.unsupported("a shared cache");
  ValueId query = c.input(0);
  ValueId key = c.optional_input(1);
  ValueId value = c.optional_input(2);
  const DataType type = c.dtype(query);
  // Packed: [B, S, H, 3, D], or keys and values [B, T, H, 2, D].
  const auto take = [&](ValueId packed, std::int64_t i) {
    const SymShape s = c.known_shape(packed);
    return c.reshape(c.slice(packed, 3, i, i + 1), {s[0], s[1], s[2] * s[4]});
  };
  if (!key.valid()) {
    if (c.known_rank(query) != 5) c.invalid("it has no key, and its query is not packed");
    const ValueId packed = query;
    query = take(packed, 0);
    key = take(packed, 1);
    value = take(packed, 2);
  } else if (c.known_rank(key) == 5) {
    const ValueId packed = key;
    key = take(packed, 0);
    value = take(packed, 1);
  }
  if (!value.valid()) c.invalid("it has no value");
  // The key and value of a cross attention may come as [B, H, T, D], ready to use.
  const bool ready = c.known_rank(key) == 4;
  if (c.has_input(3)) {
    const ValueId bias = c.input(3);
    const Dim q_width = c.known_shape(query)[2];
    query = c.binary(BinaryFn::add, query, c.slice(bias, 0, 0, q_width));
    if (!ready) {
      const Dim k_end = q_width + c.known_shape(key)[2];
      key = c.binary(BinaryFn::add, key, c.slice(bias, 0, q_width, k_end));
      value =
          c.binary(BinaryFn::add, value, c.slice(bias, 0, k_end, k_end + c.known_shape(value)[2]));
    }
  }
  AttentionOperands o;
  o.q = split_heads(c, query, heads);
  o.q_layout = o.y_layout = "bshd";
  const SymShape q = c.known_shape(o.q);
  o.scale = default_scale(c, q[3]);
  o.k = ready ? key : split_heads(c, key, heads);
  o.v = ready ? value : split_heads(c, value, heads);
  o.k_layout = o.v_layout = ready ? "bhsd" : "bshd";
  const bool cached = c.has_input(6) || c.wants_output(1) || c.wants_output(2);
  if (!ready && cached) {
    o.k = c.transpose(o.k, {0, 2, 1, 3});
    o.v = c.transpose(o.v, {0, 2, 1, 3});
    o.k_layout = o.v_layout = "bhsd";
  }
  if (c.has_input(6)) {
    o.k = c.concat({c.input(6), o.k}, 2);
    o.v = c.concat({c.input(7), o.v}, 2);
  }
  c.output(1, o.k);
  c.output(2, o.v);
  const Dim keys = c.known_shape(o.k)[o.k_layout == "bhsd" ? 2 : 1];
  if (c.has_input(4)) o.mask = additive_mask(c, c.input(4), q[0], keys, type);
  c.ignore({"mask_filter_value"});
  if (c.has_input(5)) {
    o.mask = o.mask.valid() ? c.binary(BinaryFn::add, o.mask, c.input(5)) : c.input(5);
  }
  if (c.flag("unidirectional")) o.causal = "bottom_right";
  c.output(0, merge_heads(c, emit_attention(c, o)));
}

// Writes the new keys [B, H, S, D] into the cache [B, H, P, D], made max(total, P) long, behind the
// `before` [B] valid ones that each sequence of the batch has.
ValueId append_to_cache(Conversion& c, ValueId cache, ValueId fresh, ValueId before,
                        const Dim& total) {
  const SymShape s = c.known_shape(fresh);
  if (!cache.valid()) return fresh;
  const Dim length = c.known_shape(cache)[2];
  const ValueId longer =
      c.emit(OpKind::pad, {cache},
             {{"pads", SymShape{0, 0, 0, 0, 0, 0, Dim::max(total, length) - length, 0}},
              {"mode", std::string("constant")}});
  const ValueId at = c.binary(BinaryFn::add, c.reshape(before, {s[0], 1, 1, 1}),
                              c.reshape(c.iota(s[2]), {1, 1, s[2], 1}));
  return c.emit(OpKind::scatter_elements, {longer, c.broadcast(at, s), fresh},
                {{"axis", std::int64_t{2}}, {"reduction", std::string("none")}});
}

// Grouped heads with a cache: sequence b has seqlens_k[b] + 1 valid keys after this step.
void group_query_attention(Conversion& c) {
  const std::int64_t heads = c.integer("num_heads");
  const std::int64_t kv_heads = c.integer("kv_num_heads");
  if (c.flag("smooth_softmax") || c.has_input(11) || c.has_input(12) || c.has_input(13)) {
    c.unsupported("smooth_softmax, attention sinks or a quantised cache");
  }
  for (const auto* name : {"k_quant_type", "v_quant_type"}) {
    if (c.text(name, "NONE") != "NONE") c.unsupported("a quantised cache");
  }
  c.ignore({"kv_cache_bit_width", "qk_output"});
  if (heads < 1 || kv_heads < 1) c.invalid("attributes 'num_heads' and 'kv_num_heads'");
  ValueId query = c.input(0);
  ValueId key = c.optional_input(1);
  ValueId value = c.optional_input(2);
  if (!key.valid()) {
    // Packed [B, S, (heads + 2·kv_heads)·D].
    const auto width = c.known_shape(query).at(2).constant();
    if (!width || *width % (heads + 2 * kv_heads) != 0) c.invalid("its packed width");
    const std::int64_t depth = *width / (heads + 2 * kv_heads);
    const std::int64_t sizes[] = {heads * depth, kv_heads * depth, kv_heads * depth};
    const auto parts = c.emit_many(OpKind::split, {query, c.make_integers(sizes)},
                                   {{"axis", std::int64_t{2}}}, {true, true, true});
    query = parts[0];
    key = parts[1];
    value = parts[2];
  }
  ValueId q = split_heads(c, query, heads);   // [B, S, H, D]
  ValueId k = split_heads(c, key, kv_heads);  // [B, S, Hkv, D]
  ValueId v = split_heads(c, value, kv_heads);
  const SymShape shape = c.known_shape(q);
  const Dim& batch = shape[0];
  const Dim& queries = shape[1];
  const ValueId steps = c.iota(queries);
  // Valid keys before this step; a first prompt that is padded on the right has none.
  const ValueId valid =
      c.binary(BinaryFn::add, c.reshape(c.cast(c.input(5), DataType::i64), {batch}), 1.0);
  const ValueId count = c.reduce(
      ReduceFn::prod,
      c.emit(OpKind::shape_of, {query}, {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}}),
      {0}, false);
  const ValueId before =
      c.binary(BinaryFn::max, c.binary(BinaryFn::sub, valid, count), 0.0);  // [B]
  const ValueId positions = c.binary(BinaryFn::add, c.reshape(before, {batch, 1}),
                                     c.reshape(steps, {1, queries}));  // [B, S]
  if (c.flag("do_rotary")) {
    const ValueId at = c.has_input(9) ? c.cast(c.input(9), DataType::i64) : positions;
    const auto rotate = [&](ValueId x) {
      return c.emit(OpKind::rotary, {x, c.input(7), c.input(8), at},
                    {{"layout", std::string("bshd")},
                     {"rotary_dim", c.known_shape(c.input(7)).at(1).constant().value_or(0) * 2},
                     {"interleaved", std::int64_t{c.flag("rotary_interleaved") ? 1 : 0}}});
    };
    q = rotate(q);
    k = rotate(k);
  }
  c.ignore({"rotary_interleaved"});
  // The length of the new cache is the largest total; it comes as a scalar.
  const auto totals = c.known_contents(c.input(6));
  const ValueId past_key = c.optional_input(3);
  if (past_key.valid() && (!totals || totals->size() != 1)) {
    c.unsupported("a total length that is known only when running");
  }
  const Dim total = totals && totals->size() == 1 ? totals->front() : queries;
  k = append_to_cache(c, past_key, c.transpose(k, {0, 2, 1, 3}), before, total);
  v = append_to_cache(c, c.optional_input(4), c.transpose(v, {0, 2, 1, 3}), before, total);
  c.output(1, k);
  c.output(2, v);
  const Dim keys = c.known_shape(k)[2];
  AttentionOperands o;
  o.q = q;
  o.k = k;
  o.v = v;
  o.q_layout = o.y_layout = "bshd";
  o.scale = default_scale(c, shape[3]);
  o.softcap = c.number("softcap", 0.0);
  // Key j is visible at position p if j ≤ p, and within the window j > p − window.
  const ValueId columns = c.iota(keys);
  const ValueId rows = c.reshape(positions, {batch, 1, queries, 1});
  o.mask = c.binary(BinaryFn::less_equal, columns, rows);
  if (const std::int64_t window = c.integer("local_window_size", -1); window > 0) {
    const ValueId first = c.binary(BinaryFn::sub, rows, static_cast<double>(window));
    o.mask = c.binary(BinaryFn::logical_and, o.mask, c.binary(BinaryFn::greater, columns, first));
  }
  if (c.has_input(10)) {
    const double never = -std::numeric_limits<double>::infinity();
    o.mask = c.select(o.mask, c.input(10), c.make_scalar(never, c.dtype(c.input(10))));
  }
  c.output(0, merge_heads(c, emit_attention(c, o)));
}

// Position ids [1] are the first position, to count on from; else [B, S].
void rotary_embedding(Conversion& c) {
  if (c.flag("is_packed_batching") || c.number("scale", 1.0) != 1.0) {
    c.unsupported("is_packed_batching or scale");
  }
  ValueId x = c.input(0);
  const std::int64_t rotary_dim = c.integer("rotary_embedding_dim", 0);
  std::int64_t heads = c.integer("num_heads", 0);
  const bool flat = c.known_rank(x) == 3;
  if (flat && heads == 0) {
    const auto width = c.known_shape(x)[2].constant();
    const auto half = c.known_shape(c.input(2)).at(1).constant();
    if (!width || !half || *half < 1) c.unsupported("a head size that is known only when running");
    heads = *width / (2 * *half);
  }
  if (flat) x = split_heads(c, x, heads);
  ValueId positions = c.cast(c.input(1), DataType::i64);
  if (c.rank(positions) == 1) {
    const SymShape shape = c.known_shape(x);
    const Dim& length = shape[flat ? 1 : 2];
    positions = c.reshape(c.binary(BinaryFn::add, c.iota(length), positions), {1, length});
  }
  const ValueId y = c.emit(OpKind::rotary, {x, c.input(2), c.input(3), positions},
                           {{"layout", std::string(flat ? "bshd" : "bhsd")},
                            {"rotary_dim", rotary_dim},
                            {"interleaved", std::int64_t{c.flag("interleaved") ? 1 : 0}}});
  c.output(0, flat ? merge_heads(c, y) : y);
}

constexpr Converter kConverters[] = {
    {kMicrosoft, "Attention", 1, kLatest, attention},
    {kMicrosoft, "GroupQueryAttention", 1, kLatest, group_query_attention},
    {kMicrosoft, "MultiHeadAttention", 1, kLatest, multi_head_attention},
    {kMicrosoft, "PackedAttention", 1, kLatest, packed_attention},
    {kMicrosoft, "QAttention", 1, kLatest, quantised_attention},
    {kMicrosoft, "RotaryEmbedding", 1, kLatest, rotary_embedding},
};

}  // namespace

std::span<const Converter> attention_microsoft_converters() {
  return kConverters;
}

}  // namespace concord::importer
