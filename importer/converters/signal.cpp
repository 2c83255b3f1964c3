// Spectra of signals.
#include <cmath>
#include <numbers>

#include "importer/converter_table.h"

namespace concord::importer {
namespace {

ValueId transform(Conversion& c, ValueId x, ValueId length, ValueId axis, Attributes attrs,
                  bool inverse, bool onesided) {
  attrs.set("inverse", std::int64_t{inverse ? 1 : 0});
  attrs.set("onesided", std::int64_t{onesided ? 1 : 0});
  return c.emit(OpKind::dft, {x, length, axis}, std::move(attrs));
}

// The axis was an attribute in opset 17.
void dft(Conversion& c) {
  const ValueId x = c.input(0);
  const bool inverse = c.flag("inverse");
  const bool onesided = c.flag("onesided");
  Attributes attrs;
  ValueId axis;
  if (c.opset() < 20) {
    attrs.set("axis", c.axis_of(c.integer("axis", 1), x));
  } else if (c.has_input(2)) {
    axis = c.input(2);
  } else {
    attrs.set("axis", c.axis_of(-2, x));
  }
  c.output(0, transform(c, x, c.optional_input(1), axis, std::move(attrs), inverse, onesided));
}

ValueId scalar(Conversion& c, ValueId x) {
  return c.reshape(c.cast(x, DataType::i64), {});
}

ValueId count_to(Conversion& c, ValueId limit) {
  return c.emit(OpKind::range,
                {c.make_scalar(0, DataType::i64), limit, c.make_scalar(1, DataType::i64)});
}

ValueId as_column(Conversion& c, ValueId x) {
  const std::int64_t shape[] = {-1, 1};
  return c.emit(OpKind::reshape, {x, c.make_integers(shape)}, {{"allow_zero", std::int64_t{0}}});
}

// An extent of x as a scalar.
ValueId extent(Conversion& c, ValueId x, std::int64_t axis) {
  return c.reshape(c.emit(OpKind::shape_of, {x}, {{"start", axis}, {"end", axis + 1}}), {});
}

// signal [B, n, 1 or 2]: frames of it, one every frame_step, times the window, transformed.
void stft(Conversion& c) {
  const ValueId signal = c.input(0);
  const SymShape shape = c.known_shape(signal);
  if (shape.size() != 3) c.invalid("expects a signal of rank 3");
  const ValueId step = scalar(c, c.input(1));
  const ValueId window = c.optional_input(2);
  const ValueId length = c.has_input(3)   ? scalar(c, c.input(3))
                         : window.valid() ? extent(c, window, 0)
                                          : extent(c, signal, 1);
  const ValueId frames = c.binary(
      BinaryFn::add,
      c.binary(BinaryFn::div, c.binary(BinaryFn::sub, extent(c, signal, 1), length), step), 1.0);
  const ValueId starts = c.binary(BinaryFn::mul, count_to(c, frames), step);
  const ValueId places = c.binary(BinaryFn::add, as_column(c, starts), count_to(c, length));
  ValueId x = c.gather(signal, places, 1);  // [B, frames, length, 1 or 2]
  if (window.valid()) x = c.binary(BinaryFn::mul, x, as_column(c, window));
  const bool onesided = c.flag("onesided", true);
  const bool real = shape[2].is_constant(1);
  ValueId y = transform(c, x, {}, {}, {{"axis", std::int64_t{2}}}, false, onesided && real);
  if (onesided && !real) {
    y = c.slice(y, 2, 0, Dim::floor_div(c.known_shape(y)[2], 2) + Dim(1));
  }
  c.output(0, y);
}

// Triangles over the bins of a spectrum, of equal width on the mel scale: y [spectrum bins, mel
// bins], in float64 until the end, since edges are rounded down to whole bins.
void mel_weight_matrix(Conversion& c) {
  constexpr DataType wide = DataType::f64;
  const std::int64_t number = c.integer("output_datatype", 1);
  if (number < 1 || number > static_cast<std::int64_t>(DataType::i2)) {
    c.invalid("attribute 'output_datatype' is " + std::to_string(number) + ", no data type");
  }
  const ValueId mel_bins = scalar(c, c.input(0));
  const ValueId dft_length = scalar(c, c.input(1));
  const ValueId rate = c.cast(scalar(c, c.input(2)), wide);
  constexpr double scale = 2595 / std::numbers::ln10;
  const auto mel_of = [&](std::size_t i) {
    const ValueId hertz = c.reshape(c.cast(c.input(i), wide), {});
    const ValueId ratio = c.binary(BinaryFn::div, hertz, 700.0);
    return c.binary(BinaryFn::mul, c.unary(UnaryFn::log, c.binary(BinaryFn::add, ratio, 1.0)),
                    scale);
  };
  const ValueId low = mel_of(3);
  const ValueId span = c.binary(BinaryFn::sub, mel_of(4), low);
  const ValueId step =
      c.binary(BinaryFn::div, span, c.cast(c.binary(BinaryFn::add, mel_bins, 2.0), wide));
  const ValueId bins = c.cast(count_to(c, mel_bins), wide);
  const ValueId length = c.binary(BinaryFn::add, c.cast(dft_length, wide), 1.0);
  // The spectrum's bin in which the edge `shift` of each triangle lies.
  const auto edge = [&](double shift) {
    const ValueId index = shift == 0 ? bins : c.binary(BinaryFn::add, bins, shift);
    const ValueId mel = c.binary(BinaryFn::add, c.binary(BinaryFn::mul, index, step), low);
    const ValueId power = c.unary(UnaryFn::exp, c.binary(BinaryFn::div, mel, scale));
    const ValueId hertz = c.binary(BinaryFn::mul, c.binary(BinaryFn::sub, power, 1.0), 700.0);
    return c.unary(UnaryFn::floor,
                   c.binary(BinaryFn::div, c.binary(BinaryFn::mul, length, hertz), rate));
  };
  const ValueId left = edge(0);
  const ValueId centre = edge(1);
  const ValueId right = edge(2);
  const ValueId half = c.binary(BinaryFn::add, c.binary(BinaryFn::div, dft_length, 2.0), 1.0);
  const ValueId bin = as_column(c, c.cast(count_to(c, half), wide));
  const ValueId zero = c.make_scalar(0, wide);
  const auto inside = [&](ValueId first, ValueId last, BinaryFn before) {
    return c.binary(BinaryFn::logical_and, c.binary(BinaryFn::greater_equal, bin, first),
                    c.binary(before, bin, last));
  };
  const auto slope = [&](ValueId from, ValueId to, ValueId above) {
    const ValueId width = c.binary(BinaryFn::max, c.binary(BinaryFn::sub, to, from), 1.0);
    return c.binary(BinaryFn::div, above, width);
  };
  // A side without a width is 1 at the centre.
  const ValueId rising = c.select(
      c.binary(BinaryFn::equal, left, centre), c.cast(c.binary(BinaryFn::equal, bin, centre), wide),
      c.select(inside(left, centre, BinaryFn::less_equal),
               slope(left, centre, c.binary(BinaryFn::sub, bin, left)), zero));
  const ValueId y = c.select(inside(centre, right, BinaryFn::less),
                             slope(centre, right, c.binary(BinaryFn::sub, right, bin)), rising);
  c.output(0, c.cast(y, static_cast<DataType>(number)));
}

constexpr Converter kConverters[] = {
    {kOnnx, "DFT", 17, kLatest, dft},
    {kOnnx, "MelWeightMatrix", 17, kLatest, mel_weight_matrix},
    {kOnnx, "STFT", 17, kLatest, stft},
};

}  // namespace

std::span<const Converter> signal_converters() {
  return kConverters;
}

}  // namespace concord::importer
