#include <algorithm>
#include <array>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

template <UnaryFn fn>
void plain(Conversion& c) {
  c.output(0, c.unary(fn, c.input(0)));
}

void identity(Conversion& c) {
  if (const auto* items = c.sequence_input(0)) return c.output_sequence(0, *items);
  c.output(0, c.input(0));
}

// One attribute, alpha, with its default in ten-thousandths.
template <UnaryFn fn, int ten_thousandths>
void with_alpha(Conversion& c) {
  c.ignore({"consumed_inputs"});
  c.output(0, c.unary(fn, c.input(0), c.number("alpha", ten_thousandths / 10000.0)));
}

// Defaults are float32 numbers in ONNX's schema.
double as_f32(double value) {
  return static_cast<double>(static_cast<float>(value));
}

void leaky_relu(Conversion& c) {
  c.ignore({"consumed_inputs"});
  c.output(0, c.unary(UnaryFn::leaky_relu, c.input(0), c.number("alpha", as_f32(0.01))));
}

void hard_sigmoid(Conversion& c) {
  c.ignore({"consumed_inputs"});
  c.output(0, c.unary(UnaryFn::hard_sigmoid, c.input(0), c.number("alpha", as_f32(0.2)),
                      c.number("beta", 0.5)));
}

void selu(Conversion& c) {
  c.ignore({"consumed_inputs"});
  const bool old = c.opset() < 6;
  const double alpha = c.number("alpha", as_f32(old ? 1.6732 : 1.67326319217681884765625));
  const double gamma = c.number("gamma", as_f32(old ? 1.0507 : 1.05070102214813232421875));
  c.output(0, c.unary(UnaryFn::selu, c.input(0), alpha, gamma));
}

void shrink(Conversion& c) {
  c.output(0, c.unary(UnaryFn::shrink, c.input(0), c.number("lambd", 0.5), c.number("bias", 0.0)));
}

void is_inf(Conversion& c) {
  c.output(0, c.unary(UnaryFn::is_inf, c.input(0), c.flag("detect_positive", true) ? 1 : 0,
                      c.flag("detect_negative", true) ? 1 : 0));
}

void gelu(Conversion& c) {
  const std::string approximate = c.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    c.invalid("attribute 'approximate' is '" + approximate + "', expected 'none' or 'tanh'");
  }
  c.output(0, c.unary(approximate == "none" ? UnaryFn::gelu_erf : UnaryFn::gelu_tanh, c.input(0)));
}

void swish(Conversion& c) {
  const double alpha = c.number("alpha", 1.0);
  c.output(0, alpha == 1.0 ? c.unary(UnaryFn::silu, c.input(0))
                           : c.unary(UnaryFn::quick_gelu, c.input(0), alpha));
}

void quick_gelu(Conversion& c) {
  c.output(0, c.unary(UnaryFn::quick_gelu, c.input(0), c.number("alpha", as_f32(1.702))));
}

// com.microsoft: an activation of x + bias.
template <UnaryFn fn>
void with_bias(Conversion& c) {
  const ValueId x = c.has_input(1) ? c.binary(BinaryFn::add, c.input(0), c.input(1)) : c.input(0);
  c.output(0, c.unary(fn, x));
}

void cast(Conversion& c) {
  DataType to = DataType::undefined;
  if (c.opset() < 6) {
    const std::string name = c.text("to");
    constexpr std::array<std::string_view, 17> kNames = {
        "UNDEFINED", "FLOAT",  "UINT8",     "INT8",       "UINT16",  "INT16",
        "INT32",     "INT64",  "STRING",    "BOOL",       "FLOAT16", "DOUBLE",
        "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16"};
    for (std::size_t i = 1; i < kNames.size(); ++i) {
      if (name == kNames[i]) to = static_cast<DataType>(i);
    }
    if (to == DataType::undefined) c.invalid("attribute 'to' is '" + name + "', no data type");
  } else {
    const std::int64_t number = c.integer("to");
    if (number <= 0 || number > static_cast<std::int64_t>(DataType::i2)) {
      c.invalid("attribute 'to' is " + std::to_string(number) + ", no data type");
    }
    to = static_cast<DataType>(number);
  }
  const std::string rounding = c.text("round_mode", "up");
  if (to == DataType::f8e8m0 && rounding != "up") {
    c.unsupported("round_mode '" + rounding + "' for float8e8m0");
  }
  c.output(0, c.emit(OpKind::cast, {c.input(0)},
                     {{"to", to}, {"saturate", std::int64_t{c.flag("saturate", true) ? 1 : 0}}}));
}

void bit_cast(Conversion& c) {
  const std::int64_t number = c.integer("to");
  if (number <= 0 || number > static_cast<std::int64_t>(DataType::i2)) {
    c.invalid("attribute 'to' is " + std::to_string(number) + ", no data type");
  }
  c.output(0, c.emit(OpKind::bit_cast, {c.input(0)}, {{"to", static_cast<DataType>(number)}}));
}

void cast_like(Conversion& c) {
  c.ignore({"round_mode"});
  const DataType to = c.dtype(c.input(1));
  c.output(0, c.emit(OpKind::cast, {c.input(0)},
                     {{"to", to}, {"saturate", std::int64_t{c.flag("saturate", true) ? 1 : 0}}}));
}

// min(max(x, low), high): with low > high everything is high.
void clip(Conversion& c) {
  c.ignore({"consumed_inputs"});
  ValueId x = c.input(0);
  if (c.opset() < 11) {
    if (c.has_attribute("min")) x = c.binary(BinaryFn::max, x, c.number("min"));
    if (c.has_attribute("max")) x = c.binary(BinaryFn::min, x, c.number("max"));
  } else {
    if (c.has_input(1)) x = c.binary(BinaryFn::max, x, c.input(1));
    if (c.has_input(2)) x = c.binary(BinaryFn::min, x, c.input(2));
  }
  c.output(0, x);
}

// Elements are kept with probability 1 − ratio, and scaled so that their mean stays what it was;
// all of them, as they are, unless `training`.
void training_dropout(Conversion& c, ValueId x, ValueId training) {
  const DataType type = c.dtype(x);
  const ValueId one = c.make_scalar(1, DataType::f32);
  ValueId ratio = c.make_scalar(0.5, DataType::f32);
  if (c.has_input(1)) ratio = c.cast(c.input(1), DataType::f32);
  const ValueId drawn = draw_like(c, "uniform", 0, 1, DataType::f32, x);
  const ValueId mask = c.binary(BinaryFn::logical_or, c.unary(UnaryFn::logical_not, training),
                                c.binary(BinaryFn::greater_equal, drawn, ratio));
  const ValueId kept = c.select(training, c.binary(BinaryFn::sub, one, ratio), one);
  const ValueId scaled = c.binary(BinaryFn::div, x, c.cast(kept, type));
  c.output(0, c.select(mask, scaled, c.make_scalar(0, type)));
  c.output(1, mask);
}

// Outside of training the input passes through, and the mask is all ones.
void dropout(Conversion& c) {
  c.ignore({"ratio", "seed", "is_test", "consumed_inputs"});
  const ValueId x = c.input(0);
  if (c.has_input(2)) {
    const auto training = c.known_integers(c.input(2));
    if (!training || training->size() != 1 || training->front() != 0) {
      return training_dropout(c, x, c.input(2));
    }
  }
  c.output(0, x);
  if (!c.wants_output(1)) return;
  const ValueId shape =
      c.emit(OpKind::shape_of, {x}, {{"start", std::int64_t{0}}, {"end", INT64_MAX}});
  Tensor one;
  if (c.opset() < 10 && is_float(c.dtype(x))) {
    one = Tensor(c.dtype(x), {1});
    const std::uint64_t raw = float_to_bits(c.dtype(x), 1.0);
    std::copy_n(reinterpret_cast<const std::byte*>(&raw), one.bytes(), one.mutable_data());
  } else {
    one = Tensor::zeros(DataType::boolean, {1});
    one.mutable_data()[0] = std::byte{1};
  }
  c.output(1, c.emit(OpKind::constant_of, {shape}, {{"value", std::move(one)}}));
}

constexpr Converter kConverters[] = {
    {kOnnx, "Abs", 1, kLatest, plain<UnaryFn::abs>},
    {kOnnx, "Acos", 7, kLatest, plain<UnaryFn::acos>},
    {kOnnx, "Acosh", 9, kLatest, plain<UnaryFn::acosh>},
    {kOnnx, "Asin", 7, kLatest, plain<UnaryFn::asin>},
    {kOnnx, "Asinh", 9, kLatest, plain<UnaryFn::asinh>},
    {kOnnx, "Atan", 7, kLatest, plain<UnaryFn::atan>},
    {kOnnx, "Atanh", 9, kLatest, plain<UnaryFn::atanh>},
    {kOnnx, "BitwiseNot", 18, kLatest, plain<UnaryFn::bit_not>},
    {kOnnx, "BitCast", 26, kLatest, bit_cast},
    {kOnnx, "Cast", 1, kLatest, cast},
    {kOnnx, "CastLike", 15, kLatest, cast_like},
    {kOnnx, "Ceil", 1, kLatest, plain<UnaryFn::ceil>},
    {kOnnx, "Celu", 12, kLatest, with_alpha<UnaryFn::celu, 10000>},
    {kOnnx, "Clip", 1, kLatest, clip},
    {kOnnx, "Cos", 7, kLatest, plain<UnaryFn::cos>},
    {kOnnx, "Cosh", 9, kLatest, plain<UnaryFn::cosh>},
    {kOnnx, "Dropout", 1, kLatest, dropout},
    {kOnnx, "Elu", 1, kLatest, with_alpha<UnaryFn::elu, 10000>},
    {kOnnx, "Erf", 9, kLatest, plain<UnaryFn::erf>},
    {kOnnx, "Exp", 1, kLatest, plain<UnaryFn::exp>},
    {kOnnx, "Floor", 1, kLatest, plain<UnaryFn::floor>},
    {kOnnx, "Gelu", 20, kLatest, gelu},
    {kOnnx, "HardSigmoid", 1, kLatest, hard_sigmoid},
    {kOnnx, "HardSwish", 14, kLatest, plain<UnaryFn::hard_swish>},
    {kOnnx, "Identity", 1, kLatest, identity},
    {kOnnx, "IsInf", 10, kLatest, is_inf},
    {kOnnx, "IsNaN", 9, kLatest, plain<UnaryFn::is_nan>},
    {kOnnx, "LeakyRelu", 1, kLatest, leaky_relu},
    {kOnnx, "Log", 1, kLatest, plain<UnaryFn::log>},
    {kOnnx, "Mish", 18, kLatest, plain<UnaryFn::mish>},
    {kOnnx, "Neg", 1, kLatest, plain<UnaryFn::neg>},
    {kOnnx, "Not", 1, kLatest, plain<UnaryFn::logical_not>},
    {kOnnx, "Reciprocal", 1, kLatest, plain<UnaryFn::reciprocal>},
    {kOnnx, "Relu", 1, kLatest, plain<UnaryFn::relu>},
    {kOnnx, "Round", 11, kLatest, plain<UnaryFn::round>},
    {kOnnx, "Selu", 1, kLatest, selu},
    {kOnnx, "Shrink", 9, kLatest, shrink},
    {kOnnx, "Sigmoid", 1, kLatest, plain<UnaryFn::sigmoid>},
    {kOnnx, "Sign", 9, kLatest, plain<UnaryFn::sign>},
    {kOnnx, "Sin", 7, kLatest, plain<UnaryFn::sin>},
    {kOnnx, "Sinh", 9, kLatest, plain<UnaryFn::sinh>},
    {kOnnx, "Softplus", 1, kLatest, plain<UnaryFn::softplus>},
    {kOnnx, "Softsign", 1, kLatest, plain<UnaryFn::softsign>},
    {kOnnx, "Sqrt", 1, kLatest, plain<UnaryFn::sqrt>},
    {kOnnx, "Swish", 24, kLatest, swish},
    {kOnnx, "Tan", 7, kLatest, plain<UnaryFn::tan>},
    {kOnnx, "Tanh", 1, kLatest, plain<UnaryFn::tanh>},
    {kOnnx, "ThresholdedRelu", 1, kLatest, with_alpha<UnaryFn::thresholded_relu, 10000>},
    {kMicrosoft, "BiasGelu", 1, kLatest, with_bias<UnaryFn::gelu_erf>},
    {kMicrosoft, "FastGelu", 1, kLatest, with_bias<UnaryFn::gelu_tanh>},
    {kMicrosoft, "Gelu", 1, kLatest, plain<UnaryFn::gelu_erf>},
    {kMicrosoft, "QuickGelu", 1, kLatest, quick_gelu},
};

}  // namespace

std::span<const Converter> unary_converters() {
  return kConverters;
}

}  // namespace concord::importer
