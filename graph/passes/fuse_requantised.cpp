#include <cmath>

#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

struct Range {
  double low, high;
};
std::optional<Range> range_of(DataType dtype) {
  switch (dtype) {
    case DataType::u8:
      return Range{0, 255};
    case DataType::i8:
      return Range{-128, 127};
    case DataType::u16:
      return Range{0, 65535};
    case DataType::i16:
      return Range{-32768, 32767};
    default:
      return std::nullopt;
  }
}

// What reshapes, moves or picks elements and changes none.
bool moves(const Node& node) {
  return node.op == OpKind::reshape || node.op == OpKind::transpose || node.op == OpKind::slice ||
         node.op == OpKind::split || node.op == OpKind::broadcast;
}

// Whether every element of x is (q − z)·s for a q within the range, for the same s, z and range:
// then rounding it changes nothing. (|q − z|·s / s lies within 1.5 ulp of a whole number below
// 2^17, s and its multiples being normal.)
bool is_rounded(const Rewriter& rw, ValueId x, const Quantisation& to, DataType integer) {
  const Node* made = rw.producer(x);
  while (made != nullptr && moves(*made)) made = rw.producer(made->input(0));
  if (made == nullptr || made->op != OpKind::dequantize) return false;
  if (rw.value(made->input(0)).dtype != integer) return false;
  return std::isnormal(static_cast<float>(to.scale) * 65536.0f) && quantisation_of(rw, *made) == to;
}

// Exporters of QDQ put a pair of nodes behind every operator, those too that only move elements.
bool drop_repeated(Rewriter& rw, NodeId id) {
  const Node& back = rw.node(id);
  if (back.op != OpKind::dequantize) return false;
  const Node* there = rw.producer(back.input(0), OpKind::quantize);
  if (there == nullptr) return false;
  const ValueId x = there->input(0);
  const DataType integer = rw.value(back.input(0)).dtype;
  if (rw.value(x).dtype != DataType::f32 || rw.value(back.output()).dtype != DataType::f32 ||
      !range_of(integer)) {
    return false;
  }
  const auto first = quantisation_of(rw, *there);
  if (!first || quantisation_of(rw, back) != first) return false;
  return is_rounded(rw, x, *first, integer) && rw.bypass(id, x);
}

// y = (clamp(round(x / s) + z) − z)·s, in floats from end to end: nothing needs the integers. Sums
// of whole numbers below 2^24 are exact, so z moves into the bounds. x·(1/s) lies within the 2.5
// ulp that the budget allows a quotient.
bool fuse(Rewriter& rw, NodeId id) {
  const Node& back = rw.node(id);
  const Node* there = rw.producer(back.input(0), OpKind::quantize);
  if (there == nullptr || !rw.single_use(back.input(0))) return false;
  const ValueId x = there->input(0);
  if (rw.value(x).dtype != DataType::f32 || rw.value(back.output()).dtype != DataType::f32) {
    return false;
  }
  const auto range = range_of(rw.value(back.input(0)).dtype);
  const auto first = quantisation_of(rw, *there);
  const auto second = quantisation_of(rw, back);
  if (!range || !first || !second || !(*first == *second)) return false;
  if (!std::isnormal(static_cast<float>(1 / first->scale))) return false;
  const NodeId quantize = rw.producer_id(back.input(0));
  const Node origin = back;
  const auto scalar = [&](double value) {
    return rw.add_constant({}, scalar_tensor(DataType::f32, value));
  };
  const auto binary = [&](const char* fn, ValueId a, ValueId b) {
    return rw.insert(OpKind::binary, {a, b}, {{"fn", std::string(fn)}}, origin, id);
  };
  ValueId y = binary("mul", x, scalar(1 / first->scale));
  y = rw.insert(OpKind::unary, {y}, {{"fn", std::string("round")}, {"alpha", 0.0}, {"beta", 0.0}},
                origin, id);
  y = binary("max", y, scalar(range->low - first->zero));
  y = binary("min", y, scalar(range->high - first->zero));
  Node scaled;
  scaled.op = OpKind::binary;
  scaled.inputs = {y, scalar(first->scale)};
  scaled.attrs = {{"fn", std::string("mul")}};
  rw.replace(id, std::move(scaled), {quantize});
  return true;
}

}  // namespace

int fuse_requantised(Graph& graph, const PassOptions& options) {
  const int dropped = rewrite_each(graph, drop_repeated);
  // Moves that stood on both sides of a pair now meet.
  if (dropped > 0 && !options.disabled.contains("simplify")) simplify(graph, options);
  if (!options.quantised_products) return dropped;
  return dropped + rewrite_each(graph, [](Rewriter& rw, NodeId id) {
           return rw.node(id).op == OpKind::dequantize && fuse(rw, id);
         });
}

}  // namespace concord::graph
