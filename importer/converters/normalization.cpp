#include <algorithm>
#include <functional>
#include <numeric>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

constexpr double kEpsilon = 1e-5F;

DataType wider(Conversion& c, ValueId a, ValueId b) {
  const DataType x = c.dtype(a);
  const DataType y = c.dtype(b);
  return bits(y) > bits(x) ? y : x;
}

// [C] as [C, 1, …], to broadcast along the channels of x.
ValueId per_channel(Conversion& c, ValueId vector, ValueId x) {
  const std::int64_t rank = c.known_rank(x);
  SymShape shape = c.known_shape(vector);
  if (shape.size() != 1 || rank <= 2) return vector;
  shape.insert(shape.end(), static_cast<std::size_t>(rank - 2), Dim(1));
  return c.reshape(vector, std::move(shape));
}

// With the statistics given: x·s + (b − mean·s), s = scale / √(variance + epsilon).
ValueId normalised(Conversion& c, ValueId x, ValueId mean, ValueId variance, DataType inner) {
  const ValueId deviation =
      c.unary(UnaryFn::sqrt, c.binary(BinaryFn::add, variance, c.number("epsilon", kEpsilon)));
  const ValueId factor = c.binary(BinaryFn::div, c.cast(c.input(1), inner), deviation);
  const ValueId shift =
      c.binary(BinaryFn::sub, c.cast(c.input(2), inner), c.binary(BinaryFn::mul, mean, factor));
  const ValueId scaled = c.binary(BinaryFn::mul, c.cast(x, inner), per_channel(c, factor, x));
  return c.cast(c.binary(BinaryFn::add, scaled, per_channel(c, shift, x)), c.dtype(x));
}

// With the statistics of this batch, [C] each, which also move the running ones.
void training_batch_norm(Conversion& c) {
  const ValueId x = c.input(0);
  const DataType inner = wider(c, x, c.input(3));
  std::vector<std::int64_t> axes(static_cast<std::size_t>(c.known_rank(x)));
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() < 2) c.invalid("expects rank 2 or more, found " + std::to_string(axes.size()));
  axes.erase(axes.begin() + 1);
  const ValueId wide = c.cast(x, inner);
  const ValueId mean = c.reduce(ReduceFn::mean, wide, axes, false);
  const ValueId centred = c.binary(BinaryFn::sub, wide, per_channel(c, mean, x));
  const ValueId variance = c.reduce(ReduceFn::mean, c.unary(UnaryFn::square, centred), axes, false);
  c.output(0, normalised(c, x, mean, variance, inner));
  const double momentum = c.number("momentum", 0.9F);
  for (std::size_t i = 1; i < 3; ++i) {
    const ValueId before = c.cast(c.input(i + 2), inner);
    const ValueId moved = c.binary(BinaryFn::add, c.binary(BinaryFn::mul, before, momentum),
                                   c.binary(BinaryFn::mul, i == 1 ? mean : variance, 1 - momentum));
    c.output(i, c.cast(moved, c.dtype(c.input(i + 2))));
  }
}

void batch_norm(Conversion& c) {
  c.ignore({"momentum", "is_test", "consumed_inputs", "spatial"});
  if (c.flag("training_mode")) return training_batch_norm(c);
  for (std::size_t i = 1; i < c.output_count(); ++i) {
    if (c.wants_output(i)) c.unsupported("outputs of training");
  }
  const ValueId x = c.input(0);
  const DataType inner = wider(c, x, c.input(3));
  c.output(0, normalised(c, x, c.cast(c.input(3), inner), c.cast(c.input(4), inner), inner));
}

void instance_norm(Conversion& c) {
  c.ignore({"consumed_inputs"});
  c.output(0, c.emit(OpKind::group_norm, {c.input(0), c.input(1), c.input(2)},
                     {{"groups", std::int64_t{0}}, {"epsilon", c.number("epsilon", kEpsilon)}}));
}

void group_norm(Conversion& c) {
  c.ignore({"stash_type"});
  const ValueId x = c.input(0);
  const std::int64_t groups = c.integer("num_groups");
  if (groups < 1) c.invalid("attribute 'num_groups' is " + std::to_string(groups));
  const auto spread = [&](ValueId weight) {
    // Opsets 18 to 20 had one number per group.
    if (c.opset() >= 21) return weight;
    const Dim channels = c.known_shape(x).at(1);
    const Dim each = Dim::floor_div(channels, groups);
    return c.reshape(c.broadcast(c.reshape(weight, {groups, 1}), {groups, each}), {channels});
  };
  c.output(0, c.emit(OpKind::group_norm, {x, spread(c.input(1)), spread(c.input(2))},
                     {{"groups", groups}, {"epsilon", c.number("epsilon", kEpsilon)}}));
}

std::vector<std::int64_t> axes_from(Conversion& c, ValueId x, std::int64_t axis) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(c.known_rank(x) - axis));
  std::iota(axes.begin(), axes.end(), axis);
  return axes;
}

// Mean and 1 / √(variance + epsilon), which LayerNormalization may also give.
void statistics(Conversion& c, ValueId x, std::int64_t axis, double epsilon) {
  if (!c.wants_output(1) && !c.wants_output(2)) return;
  const auto stash =
      static_cast<DataType>(std::clamp<std::int64_t>(c.integer("stash_type", 1), 1, 16));
  const ValueId wide = bits(c.dtype(x)) < bits(stash) ? c.cast(x, stash) : x;
  const auto axes = axes_from(c, x, axis);
  const ValueId mean = c.reduce(ReduceFn::mean, wide, axes, true);
  const ValueId centred = c.binary(BinaryFn::sub, wide, mean);
  const ValueId variance = c.reduce(ReduceFn::mean, c.unary(UnaryFn::square, centred), axes, true);
  const ValueId inverse = c.unary(
      UnaryFn::reciprocal, c.unary(UnaryFn::sqrt, c.binary(BinaryFn::add, variance, epsilon)));
  if (c.wants_output(1)) c.output(1, mean);
  if (c.wants_output(2)) c.output(2, inverse);
}

void layer_normalization(Conversion& c) {
  c.ignore({"stash_type"});
  ValueId x = c.input(0);
  const std::int64_t axis = c.axis(c.integer("axis", -1), c.known_rank(x));
  const double epsilon = c.number("epsilon", kEpsilon);
  statistics(c, x, axis, epsilon);
  // Types that differ are against the rules, and exported all the same: the wider one counts.
  const auto fitted = [&](std::size_t i) {
    return c.has_input(i) ? c.cast(c.input(i), c.dtype(x)) : ValueId{};
  };
  if (c.has_input(1)) x = c.cast(x, wider(c, x, c.input(1)));
  c.output(0, layer_norm(c, x, fitted(1), fitted(2), axis, epsilon));
}

void rms_normalization(Conversion& c) {
  c.ignore({"stash_type"});
  ValueId x = c.input(0);
  const std::int64_t axis = c.axis(c.integer("axis", -1), c.known_rank(x));
  const double epsilon = c.number("epsilon", kEpsilon);
  if (c.wants_output(1)) {
    const ValueId wide = c.cast(x, DataType::f32);
    const ValueId square =
        c.reduce(ReduceFn::mean, c.unary(UnaryFn::square, wide), axes_from(c, x, axis), true);
    c.output(1, c.unary(UnaryFn::reciprocal,
                        c.unary(UnaryFn::sqrt, c.binary(BinaryFn::add, square, epsilon))));
  }
  ValueId gamma = c.optional_input(1);
  if (gamma.valid()) {
    x = c.cast(x, wider(c, x, gamma));
    gamma = c.cast(gamma, c.dtype(x));
  }
  c.output(0, rms_norm(c, x, gamma, axis, epsilon));
}

// com.microsoft: normalises input + skip (+ bias), and gives the sum as output 3.
template <bool rms>
void skip_normalization(Conversion& c) {
  const std::size_t bias = rms ? 3 : 4;
  ValueId sum = c.binary(BinaryFn::add, c.input(0), c.input(1));
  if (c.has_input(bias)) sum = c.binary(BinaryFn::add, sum, c.input(bias));
  const std::int64_t axis = c.known_rank(sum) - 1;
  const double epsilon = c.number("epsilon", 1e-12F);
  if (c.wants_output(1) || c.wants_output(2)) c.unsupported("its mean or variance as outputs");
  c.output(3, sum);
  const ValueId gamma = c.optional_input(2);
  c.output(0, rms ? rms_norm(c, sum, gamma, axis, epsilon)
                  : layer_norm(c, sum, gamma, c.optional_input(3), axis, epsilon));
}

// com.microsoft: word + position (+ segment) embeddings, normalised. Inputs 2 to 6 are the three
// tables, gamma and beta, as `table` gives them.
void embed(Conversion& c, ValueId position_ids, const std::function<ValueId(std::size_t)>& table) {
  c.ignore({"mask_index_type"});
  const ValueId ids = c.input(0);  // [B, S]
  const SymShape shape = c.known_shape(ids);
  ValueId sum = c.gather(table(2), ids, 0);
  const ValueId positions = table(3);
  if (position_ids.valid()) {
    sum = c.binary(BinaryFn::add, sum, c.gather(positions, position_ids, 0));
  } else {
    sum = c.binary(BinaryFn::add, sum, c.slice(positions, 0, 0, shape.at(1)));
  }
  if (c.has_input(1) && c.has_input(4)) {
    sum = c.binary(BinaryFn::add, sum, c.gather(table(4), c.input(1), 0));
  }
  c.output(2, sum);
  c.output(0, layer_norm(c, sum, table(5), table(6), 2, c.number("epsilon", 1e-12F)));
  if (!c.wants_output(1)) return;
  if (c.has_input(7)) {
    c.output(1, c.reduce(ReduceFn::sum, c.cast(c.input(7), DataType::i32), {1}, false));
  } else {
    c.output(1, c.emit(OpKind::constant_of, {},
                       {{"shape", SymShape{shape.at(0)}},
                        {"value", Tensor::zeros(DataType::i32, {1})}}));
  }
}

void embed_layer_norm(Conversion& c) {
  embed(c, c.optional_input(8), [&](std::size_t i) { return c.optional_input(i); });
}

// The tables as bytes, each with a scale (inputs 8 to 12) and a zero point (13 to 17).
void quantised_embed_layer_norm(Conversion& c) {
  embed(c, {}, [&](std::size_t i) {
    return c.has_input(i) ? dequantize(c, c.input(i), c.input(i + 6), c.optional_input(i + 11))
                          : ValueId{};
  });
}

void mean_variance(Conversion& c) {
  const ValueId x = c.input(0);
  auto axes = c.integers("axes").value_or(std::vector<std::int64_t>{0, 2, 3});
  axes = c.axes(axes, c.known_rank(x));
  std::sort(axes.begin(), axes.end());
  const ValueId centred = c.binary(BinaryFn::sub, x, c.reduce(ReduceFn::mean, x, axes, true));
  const ValueId variance = c.reduce(ReduceFn::mean, c.unary(UnaryFn::square, centred), axes, true);
  const ValueId deviation = c.binary(BinaryFn::add, c.unary(UnaryFn::sqrt, variance), 1e-9F);
  c.output(0, c.binary(BinaryFn::div, centred, deviation));
}

// x / ‖x‖ₚ along an axis; zeros stay zeros.
void lp_norm(Conversion& c) {
  const ValueId x = c.input(0);
  const std::int64_t axis = c.axis_of(c.integer("axis", -1), x);
  const std::int64_t p = c.integer("p", 2);
  if (p != 1 && p != 2) c.invalid("attribute 'p' is " + std::to_string(p) + ", expected 1 or 2");
  const ValueId norm = c.reduce(p == 1 ? ReduceFn::l1 : ReduceFn::l2, x, {axis}, true);
  const ValueId zero = c.make_scalar(0, c.dtype(x));
  const ValueId one = c.make_scalar(1, c.dtype(x));
  const ValueId divisor = c.select(c.binary(BinaryFn::equal, norm, zero), one, norm);
  c.output(0, c.binary(BinaryFn::div, x, divisor));
}

void lrn(Conversion& c) {
  c.output(0, c.emit(OpKind::lrn, {c.input(0)},
                     {{"size", c.integer("size")},
                      {"alpha", c.number("alpha", 1e-4F)},
                      {"beta", c.number("beta", 0.75)},
                      {"bias", c.number("bias", 1.0)}}));
}

constexpr Converter kConverters[] = {
    {kOnnx, "BatchNormalization", 1, kLatest, batch_norm},
    {kOnnx, "GroupNormalization", 18, kLatest, group_norm},
    {kOnnx, "InstanceNormalization", 1, kLatest, instance_norm},
    {kOnnx, "LRN", 1, kLatest, lrn},
    // Before opset 17 it was onnxruntime's, in ONNX's domain all the same.
    {kOnnx, "LayerNormalization", 1, kLatest, layer_normalization},
    {kOnnx, "LpNormalization", 1, kLatest, lp_norm},
    {kOnnx, "MeanVarianceNormalization", 9, kLatest, mean_variance},
    {kOnnx, "RMSNormalization", 23, kLatest, rms_normalization},
    {kOnnx, "SimplifiedLayerNormalization", 1, kLatest, rms_normalization},
    {kMicrosoft, "EmbedLayerNormalization", 1, kLatest, embed_layer_norm},
    {kMicrosoft, "QEmbedLayerNormalization", 1, kLatest, quantised_embed_layer_norm},
    {kMicrosoft, "SimplifiedLayerNormalization", 1, kLatest, rms_normalization},
    {kMicrosoft, "SkipLayerNormalization", 1, kLatest, skip_normalization<false>},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", 1, kLatest, skip_normalization<true>},
};

}  // namespace

std::span<const Converter> normalization_converters() {
  return kConverters;
}

}  // namespace concord::importer
