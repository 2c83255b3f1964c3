#include "backends/gpu/kernels/attention.h"

#include <algorithm>
#include <string>

#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/attention_flash.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/matmul_problem.h"
#include "backends/gpu/lower/rows.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

std::string softmax_name(const DeviceProperties& device, std::int64_t keys, bool capped,
                         DataType storage) {
  return std::string("attention_softmax_") + (capped ? "capped_" : "") + row_width(device, keys) +
         "_" + type_suffix(storage);
}

std::optional<std::string> why(const Query& query) {
  if (auto reason = why_no_matmul(query, query.in(0))) return reason;
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(softmax_name(query.properties, 1, false, query.in(0)));
}

// A rank-4 operand by the letters of its layout.
struct Strided {
  Operand operand;
  std::int64_t batch = 0, heads = 0, seq = 0, depth = 0;  // extents
  std::int64_t b = 0, h = 0, s = 0, d = 0;                // strides in elements
};

Strided by_layout(const Operand& operand, const std::string& layout) {
  Strided x;
  x.operand = operand;
  const Shape strides = contiguous_strides(operand.shape);
  for (std::size_t i = 0; i < 4; ++i) {
    const char letter = layout.at(i);
    (letter == 'b'   ? x.batch
     : letter == 'h' ? x.heads
     : letter == 's' ? x.seq
                     : x.depth) = operand.shape[i];
    (letter == 'b' ? x.b : letter == 'h' ? x.h : letter == 's' ? x.s : x.d) = strides[i];
  }
  if (x.batch == 1) x.b = 0;  // may be broadcast
  return x;
}

struct Attention {
  Strided q, k, v, y;
  Operand scores;                      // [batch, heads, queries, keys]
  std::int64_t batch = 0, groups = 0;  // query heads per key head
  std::int64_t queries = 0, keys = 0;
};

// scores = q kᵀ
void multiply_keys(NodeLowering& node, const Attention& a) {
  MatmulProblem p;
  p.a = a.q.operand;
  p.b = a.k.operand;
  p.c = a.scores;
  p.m = a.queries;
  p.n = a.keys;
  p.k = a.q.depth;
  p.a_row = a.q.s;
  p.a_column = a.q.d;
  p.b_row = a.k.d;
  p.b_column = a.k.s;
  p.c_row = a.keys;
  p.batch = {a.batch, a.k.heads, a.groups};
  p.a_batch = {a.q.b, a.groups * a.q.h, a.q.h};
  p.b_batch = {a.k.b, a.k.h, 0};
  const std::int64_t matrix = a.queries * a.keys;
  p.c_batch = {a.q.heads * matrix, a.groups * matrix, matrix};
  emit_matmul(node, p);
}

// y = scores v
void multiply_values(NodeLowering& node, const Attention& a) {
  MatmulProblem p;
  p.a = a.scores;
  p.b = a.v.operand;
  p.c = a.y.operand;
  p.m = a.queries;
  p.n = a.v.depth;
  p.k = a.keys;
  p.a_row = a.keys;
  p.b_row = a.v.s;
  p.b_column = a.v.d;
  p.c_row = a.y.s;
  p.batch = {a.batch, a.k.heads, a.groups};
  const std::int64_t matrix = a.queries * a.keys;
  p.a_batch = {a.q.heads * matrix, a.groups * matrix, matrix};
  p.b_batch = {a.v.b, a.v.h, 0};
  p.c_batch = {a.y.b, a.groups * a.y.h, a.y.h};
  emit_matmul(node, p);
}

// What both ways of computing it call the same.
template <class Params>
void set_mask(NodeLowering& node, const Attention& a, Params& params) {
  params.heads = to_i32(a.q.heads);
  params.queries = to_i32(a.queries);
  params.keys = to_i32(a.keys);
  if (node.has(3)) {
    const Operand mask = node.in(3);
    params.mask = node.read(mask);
    params.mask_kind = node.in_dtype(3) == DataType::boolean ? 2 : 1;
    const Shape strides = broadcast_strides(mask.shape, {a.batch, a.q.heads, a.queries, a.keys});
    params.mask_batch = to_i32(strides[0]);
    params.mask_head = to_i32(strides[1]);
    params.mask_query = to_i32(strides[2]);
    params.mask_key = to_i32(strides[3]);
  }
  if (node.has(4)) params.lengths = node.read(node.in(4));
  const std::string causal = node.attrs().text("causal", "none");
  params.causal = causal == "none" ? 0 : 1;
  params.causal_offset =
      causal == "bottom_right" ? static_cast<std::int32_t>(a.keys - a.queries) : 0;
  params.window = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(node.attrs().integer("window", -1), -1, a.keys + a.queries));
  params.scale = static_cast<float>(node.attrs().number("scale"));
  params.cap = static_cast<float>(node.attrs().number("softcap", 0.0));
  params.nan_to_zero = static_cast<std::int32_t>(node.attrs().integer("nan_to_zero", 0));
}

// Scores to probabilities, in place.
void emit_softmax(NodeLowering& node, const Attention& a) {
  using Params = kernels::AttentionParams;
  Params params;
  params.scores = node.update(a.scores);
  params.rows = to_i32(a.scores.count() / a.keys);
  params.pitch = to_i32(a.keys);
  set_mask(node, a, params);
  node.dispatch(node.kernel<Params>(
                    softmax_name(node.properties(), a.keys, params.cap != 0.0F, a.scores.dtype)),
                row_groups(params.rows), params);
  node.add_flops(8.0 * static_cast<double>(a.scores.count()));
}

// Whether keys and values of f16 can be copied as they lie, in vectors of 16 bytes.
bool lies_in_vectors(const Attention& a) {
  return a.q.depth % 8 == 0 && a.v.depth % 8 == 0 && a.k.operand.offset % 16 == 0 &&
         a.v.operand.offset % 16 == 0;
}

// The kernel that needs no scores in memory, and how many queries a workgroup of it takes.
struct Flash {
  std::string kernel;
  std::int64_t rows = 0;
  DataType operands = DataType::undefined;
};

// CPU drivers are faster in three steps. So are GPUs with few queries, where the products are bound
// by memory and spread the keys over all processors; the scores are then a few rows.
std::optional<Flash> flash_for(const NodeLowering& node, const Attention& a) {
  constexpr std::int64_t kFewQueries = 4;
  constexpr std::uint32_t kSharedBytes = 32 << 10;
  const DeviceProperties& device = node.properties();
  const std::int64_t depth = std::max(a.q.depth, a.v.depth);
  const DataType storage = a.q.operand.dtype;
  if (device.is_cpu_driver || device.shared_bytes < kSharedBytes || a.queries <= kFewQueries ||
      depth > 256 || a.q.batch != a.batch ||
      (storage != DataType::f32 && storage != DataType::f16)) {
    return std::nullopt;
  }
  if (const auto operands = coop_operands(node, storage); operands.has_value() && depth <= 128) {
    const char* width = depth <= 64 ? "64" : "128";
    const bool as_stored = *operands == DataType::f16;
    return Flash{std::string("attention_flash") + width + "_coop_" +
                     (as_stored && lies_in_vectors(a) ? "copied_" : "") +
                     (as_stored ? "f16" : "bf16"),
                 64, *operands};
  }
  const char* width = depth <= 64 ? "64" : depth <= 128 ? "128" : "256";
  return Flash{std::string("attention_flash") + width + "_" + type_suffix(storage),
               depth <= 128 ? 32 : 16, storage};
}

// k where kernels can read it: with its depth dense.
Operand keys_by_row(NodeLowering& node, const Strided& k) {
  if (k.d == 1 || k.depth == 1) return k.operand;
  Operand rows = node.temporary(k.operand.dtype, {k.batch, k.heads, k.seq, k.depth});
  const Shape own = contiguous_strides(k.operand.shape);  // bhds
  emit_copy(node, k.operand, rows,
            {rows.shape, {own[0], own[1], own[3], own[2]}, contiguous_strides(rows.shape), 0, 0});
  return rows;
}

void emit_flash(NodeLowering& node, const Attention& a, const Flash& flash) {
  using Params = kernels::AttentionFlashParams;
  const auto bit = [&](const char* layout, std::int32_t value) {
    return node.attrs().text(layout) == "bshd" ? value : 0;
  };
  Params params;
  params.q = node.read(a.q.operand);
  params.k = node.read(keys_by_row(node, a.k));
  params.v = node.read(a.v.operand);
  params.y = node.write(a.y.operand);
  set_mask(node, a, params);
  params.kv_heads = to_i32(a.k.heads);
  params.depth = to_i32(a.q.depth);
  params.v_depth = to_i32(a.v.depth);
  params.layout = bit("q_layout", 1) | bit("k_layout", 2) | bit("v_layout", 4) | bit("y_layout", 8);
  params.shared_batch = (a.k.batch < a.batch ? 2 : 0) | (a.v.batch < a.batch ? 4 : 0);
  if (flash.operands == DataType::bf16) node.set_operands(DataType::bf16);
  node.dispatch(node.kernel<Params>(flash.kernel),
                {static_cast<std::uint32_t>((a.queries + flash.rows - 1) / flash.rows),
                 static_cast<std::uint32_t>(a.q.heads), static_cast<std::uint32_t>(a.batch)},
                params);
  const double scores = static_cast<double>(a.batch) * static_cast<double>(a.q.heads) *
                        static_cast<double>(a.queries) * static_cast<double>(a.keys);
  node.add_flops(scores * (2.0 * static_cast<double>(a.q.depth + a.v.depth) + 8.0));
}

void lower(NodeLowering& node) {
  Attention a;
  a.q = by_layout(node.in(0), node.attrs().text("q_layout"));
  a.k = by_layout(node.in(1), node.attrs().text("k_layout"));
  a.v = by_layout(node.in(2), node.attrs().text("v_layout"));
  a.y = by_layout(node.out(), node.attrs().text("y_layout"));
  if (a.y.operand.count() == 0) return;
  a.batch = a.y.batch;
  a.groups = a.q.heads / a.k.heads;
  a.queries = a.q.seq;
  a.keys = a.k.seq;
  if (a.keys == 0) return node.fill(a.y.operand, 0);
  if (const auto flash = flash_for(node, a)) return emit_flash(node, a, *flash);
  a.scores = node.temporary(a.q.operand.dtype, {a.batch, a.q.heads, a.queries, a.keys});
  multiply_keys(node, a);
  emit_softmax(node, a);
  multiply_values(node, a);
}

}  // namespace

const Lowering gpu_attention{why, lower};

}  // namespace concord::gpu
