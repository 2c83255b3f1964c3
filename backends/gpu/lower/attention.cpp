#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/softmax.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/matmul_problem.h"
#include "backends/gpu/lower/rows.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::optional<std::string> why(const Query& query) {
  if (auto reason = why_no_matmul(query, query.in(0))) return reason;
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel("softmax_" + row_width(query.properties, 1) + "_" +
                           type_suffix(query.in(0)));
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

// scores = alpha q kᵀ
void multiply_keys(NodeLowering& node, const Attention& a, float alpha) {
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
  p.alpha = alpha;
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

// What causal order and a window let query i see of key j, as 0 and −inf to be added: [S, T].
Tensor visible(const std::string& causal, std::int64_t window, std::int64_t queries,
               std::int64_t keys) {
  Tensor mask(DataType::f32, {queries, keys});
  const std::span<float> values = mask.as_mutable<float>();
  const std::int64_t shift = causal == "bottom_right" ? keys - queries : 0;
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = 0; j < keys; ++j) {
      const bool sees =
          (causal == "none" || j <= i + shift) && (window < 0 || j > i + shift - window);
      values[static_cast<std::size_t>(i * keys + j)] = sees ? 0.0F : -kInfinity;
    }
  }
  return mask;
}

void hide(NodeLowering& node, const Operand& sees, const Operand& scores) {
  const Operand nothing = node.plan_constant(Tensor::scalar(-kInfinity));
  emit_select(node, sees, scores, nothing, scores);
}

void apply_masks(NodeLowering& node, const Attention& a) {
  const double softcap = node.attrs().number("softcap", 0.0);
  if (softcap != 0.0) {  // the scores hold x / softcap
    emit_unary(node, graph::UnaryFn::tanh, 0, 0, a.scores, a.scores);
    emit_binary(node, graph::BinaryFn::mul, a.scores,
                node.plan_constant(Tensor::scalar(static_cast<float>(softcap))), a.scores);
  }
  if (node.has(3)) {
    const Operand mask = node.in(3);
    if (node.in_dtype(3) == DataType::boolean) {
      hide(node, mask, a.scores);
    } else {
      emit_binary(node, graph::BinaryFn::add, a.scores, mask, a.scores);
    }
  }
  const std::string causal = node.attrs().text("causal", "none");
  const std::int64_t window = node.attrs().integer("window", -1);
  // One query that sees all keys needs no mask.
  const bool sees_all =
      window < 0 && (causal == "none" || (causal == "bottom_right" && a.queries == 1));
  if (!sees_all) {
    const Operand mask = node.plan_constant(visible(causal, window, a.queries, a.keys));
    emit_binary(node, graph::BinaryFn::add, a.scores, mask, a.scores);
  }
  if (node.has(4)) {
    std::vector<std::int64_t> keys(static_cast<std::size_t>(a.keys));
    std::iota(keys.begin(), keys.end(), 0);
    const Operand index = node.plan_constant(Tensor::from_ints(keys));
    const Operand lengths = NodeLowering::view(node.in(4), {node.in(4).count(), 1, 1, 1});
    const Operand sees = node.temporary(DataType::i32, {lengths.count(), 1, 1, a.keys});
    emit_binary(node, graph::BinaryFn::less, index, lengths, sees);
    hide(node, sees, a.scores);
  }
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
  a.scores = node.temporary(a.q.operand.dtype, {a.batch, a.q.heads, a.queries, a.keys});
  const double softcap = node.attrs().number("softcap", 0.0);
  const double scale = node.attrs().number("scale");
  multiply_keys(node, a, static_cast<float>(softcap != 0.0 ? scale / softcap : scale));
  apply_masks(node, a);
  const std::int64_t rows = a.scores.count() / a.keys;
  kernels::SoftmaxParams params{
      node.read(a.scores), node.update(a.scores), to_i32(rows), to_i32(a.keys), 1, 1.0F};
  params.nan_to_zero = static_cast<std::int32_t>(node.attrs().integer("nan_to_zero", 0));
  const std::string name =
      "softmax_" + row_width(node.properties(), a.keys) + "_" + type_suffix(a.scores.dtype);
  node.dispatch(node.kernel<kernels::SoftmaxParams>(name), row_groups(rows), params);
  multiply_values(node, a);
}

}  // namespace

const Lowering gpu_attention{why, lower};

}  // namespace concord::gpu
