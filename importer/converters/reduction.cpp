#include <numeric>

#include "importer/converter_table.h"

namespace concord::importer {
namespace {

// What the function makes of a single element: the result when no axis is reduced.
ValueId of_single(Conversion& c, ReduceFn fn, ValueId x) {
  switch (fn) {
    case ReduceFn::l1:
    case ReduceFn::l2:
      return c.unary(UnaryFn::abs, x);
    case ReduceFn::log_sum:
      return c.unary(UnaryFn::log, x);
    case ReduceFn::sum_square:
      return c.unary(UnaryFn::square, x);
    default:
      return x;
  }
}

// Axes were an attribute up to opset 17 (ReduceSum: 12), since then an input.
template <ReduceFn fn>
void reduce(Conversion& c) {
  const ValueId x = c.input(0);
  const bool keepdims = c.flag("keepdims", true);
  const bool noop = c.flag("noop_with_empty_axes");
  const bool is_given = c.has_input(1) || c.has_attribute("axes");
  auto axes = c.integers_of(1, "axes");
  if (is_given && !axes) {
    return c.output(0, c.emit(OpKind::reduce_dynamic, {x, c.input(1)},
                              {{"fn", std::string(graph::to_string(fn))},
                               {"keepdims", std::int64_t{keepdims ? 1 : 0}},
                               {"noop_empty", std::int64_t{noop ? 1 : 0}}}));
  }
  if (!axes || axes->empty()) {
    if (noop) return c.output(0, of_single(c, fn, x));
    axes.emplace(static_cast<std::size_t>(c.known_rank(x)));
    std::iota(axes->begin(), axes->end(), 0);
  } else if (c.rank(x)) {
    axes = c.axes(*axes, *c.rank(x));
  } else {
    for (std::int64_t& axis : *axes) axis = c.axis_of(axis, x);
  }
  c.output(0, c.reduce(fn, x, *axes, keepdims));
}

template <bool is_max>
void arg_reduce(Conversion& c) {
  const ValueId x = c.input(0);
  c.output(0, c.emit(OpKind::arg_reduce, {x},
                     {{"fn", std::string(is_max ? "argmax" : "argmin")},
                      {"axis", c.axis_of(c.integer("axis", 0), x)},
                      {"keepdims", std::int64_t{c.flag("keepdims", true) ? 1 : 0}},
                      {"select_last", std::int64_t{c.flag("select_last_index") ? 1 : 0}}}));
}

template <OpKind op>
void cumulative(Conversion& c) {
  c.output(0, c.emit(op, {c.input(0), c.input(1)},
                     {{"exclusive", std::int64_t{c.flag("exclusive") ? 1 : 0}},
                      {"reverse", std::int64_t{c.flag("reverse") ? 1 : 0}}}));
}

void top_k(Conversion& c) {
  const ValueId x = c.input(0);
  const ValueId k = c.opset() < 10 ? c.make_constant(Tensor::scalar(c.integer("k"))) : c.input(1);
  const auto results = c.emit_many(OpKind::top_k, {x, k},
                                   {{"axis", c.axis_of(c.integer("axis", -1), x)},
                                    {"largest", std::int64_t{c.flag("largest", true) ? 1 : 0}},
                                    {"sorted", std::int64_t{c.flag("sorted", true) ? 1 : 0}}},
                                   {true, true});
  c.output(0, results[0]);
  c.output(1, results[1]);
}

constexpr Converter kConverters[] = {
    {kOnnx, "ArgMax", 1, kLatest, arg_reduce<true>},
    {kOnnx, "ArgMin", 1, kLatest, arg_reduce<false>},
    {kOnnx, "CumProd", 26, kLatest, cumulative<OpKind::cum_prod>},
    {kOnnx, "CumSum", 11, kLatest, cumulative<OpKind::cum_sum>},
    {kOnnx, "ReduceL1", 1, kLatest, reduce<ReduceFn::l1>},
    {kOnnx, "ReduceL2", 1, kLatest, reduce<ReduceFn::l2>},
    {kOnnx, "ReduceLogSum", 1, kLatest, reduce<ReduceFn::log_sum>},
    {kOnnx, "ReduceLogSumExp", 1, kLatest, reduce<ReduceFn::log_sum_exp>},
    {kOnnx, "ReduceMax", 1, kLatest, reduce<ReduceFn::max>},
    {kOnnx, "ReduceMean", 1, kLatest, reduce<ReduceFn::mean>},
    {kOnnx, "ReduceMin", 1, kLatest, reduce<ReduceFn::min>},
    {kOnnx, "ReduceProd", 1, kLatest, reduce<ReduceFn::prod>},
    {kOnnx, "ReduceSum", 1, kLatest, reduce<ReduceFn::sum>},
    {kOnnx, "ReduceSumSquare", 1, kLatest, reduce<ReduceFn::sum_square>},
    {kOnnx, "TopK", 1, kLatest, top_k},
};

}  // namespace

std::span<const Converter> reduction_converters() {
  return kConverters;
}

}  // namespace concord::importer
