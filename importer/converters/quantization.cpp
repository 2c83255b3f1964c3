#include <array>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

DataType type_of_number(Conversion& c, std::int64_t number) {
  if (number < 1 || number > static_cast<std::int64_t>(DataType::i2)) {
    c.invalid("attribute 'output_dtype' is " + std::to_string(number) + ", no data type");
  }
  return static_cast<DataType>(number);
}

// The axis means nothing for one scale for all.
std::int64_t scale_axis(Conversion& c, ValueId x, ValueId scale) {
  const std::int64_t axis = c.integer("axis", 1);
  const auto& shape = c.shape(scale);
  const bool single =
      shape && (shape->empty() || (shape->size() == 1 && shape->front().is_constant(1)));
  return single ? 0 : c.axis_of(axis, x);
}

void quantize_linear(Conversion& c) {
  c.ignore({"precision"});
  const ValueId zero_point = c.optional_input(2);
  const std::int64_t wanted = c.integer("output_dtype", 0);
  const DataType to = wanted != 0          ? type_of_number(c, wanted)
                      : zero_point.valid() ? c.dtype(zero_point)
                                           : DataType::u8;
  const ValueId x = c.input(0);
  const ValueId scale = c.input(1);
  c.output(0, quantize(c, x, scale, zero_point, to, scale_axis(c, x, scale),
                       c.integer("block_size", 0), c.flag("saturate", true)));
}

void dequantize_linear(Conversion& c) {
  const ValueId x = c.input(0);
  const ValueId scale = c.input(1);
  const std::int64_t wanted = c.integer("output_dtype", 0);
  c.output(0, dequantize(c, x, scale, c.optional_input(2), scale_axis(c, x, scale),
                         c.integer("block_size", 0),
                         wanted == 0 ? DataType::undefined : type_of_number(c, wanted)));
}

void dynamic_quantize_linear(Conversion& c) {
  const auto results = c.emit_many(OpKind::dynamic_quantize, {c.input(0)}, {}, {true, true, true});
  for (std::size_t i = 0; i < 3; ++i) c.output(i, results[i]);
}

ValueId integer_product(Conversion& c, ValueId a, ValueId b, ValueId a_zero, ValueId b_zero) {
  return numpy_matmul(c, a, b, [&](ValueId x, ValueId y) {
    return c.emit(OpKind::matmul_integer, {x, y, a_zero, b_zero});
  });
}

void matmul_integer(Conversion& c) {
  c.output(0, integer_product(c, c.input(0), c.input(1), c.optional_input(2), c.optional_input(3)));
}

// A scale per row [M] as [M, 1]; per column [N] it broadcasts as it is.
ValueId per_row(Conversion& c, ValueId scale) {
  if (c.rank(scale) != 1) return scale;
  SymShape shape = c.known_shape(scale);
  shape.emplace_back(1);
  return c.reshape(scale, std::move(shape));
}

// (Σ (a − a_zero)(b − b_zero))·a_scale·b_scale: the sum is exact.
ValueId scaled_product(Conversion& c, ValueId a, ValueId a_scale, ValueId a_zero, ValueId b,
                       ValueId b_scale, ValueId b_zero) {
  const ValueId sum = c.cast(integer_product(c, a, b, a_zero, b_zero), c.dtype(a_scale));
  const ValueId scale = c.binary(BinaryFn::mul, per_row(c, a_scale), b_scale);
  return c.binary(BinaryFn::mul, sum, scale);
}

void qlinear_matmul(Conversion& c) {
  const ValueId y =
      scaled_product(c, c.input(0), c.input(1), c.input(2), c.input(3), c.input(4), c.input(5));
  c.output(0, quantize(c, y, c.input(6), c.input(7), c.dtype(c.input(7))));
}

void qlinear_conv(Conversion& c) {
  if (c.flag("channels_last")) c.unsupported("channels_last");
  const ValueId x = dequantize(c, c.input(0), c.input(1), c.input(2));
  const ValueId w = dequantize(c, c.input(3), c.input(4), c.input(5), 0);
  ValueId bias;
  if (c.has_input(8)) {
    // Stored in units of x_scale·w_scale.
    SymShape channels = c.known_shape(c.input(8));
    ValueId unit = c.binary(BinaryFn::mul, c.input(1), c.input(4));
    bias = c.binary(BinaryFn::mul, c.cast(c.input(8), c.dtype(unit)), unit);
    bias = c.reshape(bias, std::move(channels));
  }
  Attributes attrs{{"group", c.integer("group", 1)}};
  c.ignore({"kernel_shape"});
  read_window(c, attrs);
  const ValueId y = c.emit(OpKind::conv, {x, w, bias}, std::move(attrs));
  c.output(0, quantize(c, y, c.input(6), c.input(7), c.dtype(c.input(7))));
}

// com.microsoft: alpha·op(a)·op(b) + c, c in units of a_scale·b_scale.
void qgemm(Conversion& c) {
  ValueId a = c.input(0);
  ValueId b = c.input(3);
  if (c.flag("transA")) a = c.transpose(a, {1, 0});
  if (c.flag("transB")) b = c.transpose(b, {1, 0});
  ValueId sum = integer_product(c, a, b, c.input(2), c.input(5));
  if (c.has_input(6)) sum = c.binary(BinaryFn::add, sum, c.input(6));
  const ValueId scale = c.binary(BinaryFn::mul, c.input(1), c.input(4));
  ValueId y = c.binary(BinaryFn::mul, c.cast(sum, c.dtype(scale)), scale);
  if (const double alpha = c.number("alpha", 1.0); alpha != 1) {
    y = c.binary(BinaryFn::mul, y, alpha);
  }
  if (c.has_input(7)) {
    const ValueId zero = c.optional_input(8);
    y = quantize(c, y, c.input(7), zero, zero.valid() ? c.dtype(zero) : c.dtype(a));
  }
  c.output(0, y);
}

void matmul_integer_to_float(Conversion& c) {
  ValueId y = scaled_product(c, c.input(0), c.input(2), c.optional_input(4), c.input(1), c.input(3),
                             c.optional_input(5));
  if (c.has_input(6)) y = c.binary(BinaryFn::add, y, c.input(6));
  c.output(0, y);
}

void dynamic_quantize_matmul(Conversion& c) {
  const auto a = c.emit_many(OpKind::dynamic_quantize, {c.input(0)}, {}, {true, true, true});
  ValueId y = scaled_product(c, a[0], a[1], a[2], c.input(1), c.input(2), c.optional_input(3));
  if (c.has_input(4)) y = c.binary(BinaryFn::add, y, c.input(4));
  c.output(0, y);
}

// com.microsoft's QLinear operators: the float operator between dequantising and quantising.
ValueId quantised_input(Conversion& c, std::size_t at) {
  return dequantize(c, c.input(at), c.input(at + 1), c.optional_input(at + 2));
}
void quantised_output(Conversion& c, ValueId y, std::size_t at) {
  const ValueId zero = c.optional_input(at + 1);
  c.output(0, quantize(c, y, c.input(at), zero, zero.valid() ? c.dtype(zero) : DataType::u8));
}

template <BinaryFn fn>
void qlinear_binary(Conversion& c) {
  quantised_output(c, c.binary(fn, quantised_input(c, 0), quantised_input(c, 3)), 6);
}

void qlinear_sigmoid(Conversion& c) {
  quantised_output(c, c.unary(UnaryFn::sigmoid, quantised_input(c, 0)), 3);
}

void qlinear_leaky_relu(Conversion& c) {
  const double alpha = c.number("alpha", 0.01F);
  quantised_output(c, c.unary(UnaryFn::leaky_relu, quantised_input(c, 0), alpha), 3);
}

void qlinear_softmax(Conversion& c) {
  const ValueId x = quantised_input(c, 0);
  const std::int64_t axis = c.axis_of(c.integer("axis", -1), x);
  if (c.integer("opset", 13) < 13 && axis + 1 != c.known_rank(x)) {
    c.unsupported("several axes at once");
  }
  quantised_output(
      c,
      c.emit(OpKind::softmax, {x},
             {{"axis", axis}, {"log", std::int64_t{0}}, {"nan_to_zero", std::int64_t{0}}}),
      3);
}

void qlinear_average_pool(Conversion& c) {
  if (c.flag("channels_last")) c.unsupported("channels_last");
  const auto kernel = c.integers("kernel_shape");
  if (!kernel) c.invalid("attribute 'kernel_shape' is missing");
  Attributes attrs{{"fn", std::string("average")},
                   {"kernel", *kernel},
                   {"ceil_mode", std::int64_t{c.flag("ceil_mode") ? 1 : 0}},
                   {"count_include_pad", std::int64_t{c.flag("count_include_pad") ? 1 : 0}},
                   {"p", std::int64_t{0}},
                   {"storage_order", std::int64_t{0}}};
  read_window(c, attrs);
  quantised_output(c, c.emit(OpKind::pool, {quantised_input(c, 0)}, std::move(attrs)), 3);
}

void qlinear_global_average_pool(Conversion& c) {
  const bool last = c.flag("channels_last");
  const ValueId x = quantised_input(c, 0);
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = last ? 1 : 2; axis < c.known_rank(x) - (last ? 1 : 0); ++axis) {
    axes.push_back(axis);
  }
  quantised_output(c, c.reduce(ReduceFn::mean, x, axes, true), 3);
}

// Inputs: scale and zero point of the result, then (tensor, scale, zero point) of each part.
void qlinear_concat(Conversion& c) {
  std::vector<ValueId> parts;
  for (std::size_t i = 2; i + 1 < c.input_count(); i += 3) parts.push_back(quantised_input(c, i));
  if (parts.empty()) c.invalid("it has no parts");
  const std::int64_t axis = c.axis_of(c.integer("axis"), parts.front());
  const ValueId zero = c.optional_input(1);
  c.output(0, quantize(c, c.concat(parts, axis), c.input(0), zero,
                       zero.valid() ? c.dtype(zero) : DataType::u8));
}

constexpr Converter kConverters[] = {
    {kOnnx, "DequantizeLinear", 10, kLatest, dequantize_linear},
    {kOnnx, "DynamicQuantizeLinear", 11, kLatest, dynamic_quantize_linear},
    {kOnnx, "MatMulInteger", 10, kLatest, matmul_integer},
    {kOnnx, "QLinearConv", 10, kLatest, qlinear_conv},
    {kOnnx, "QLinearMatMul", 10, kLatest, qlinear_matmul},
    {kOnnx, "QuantizeLinear", 10, kLatest, quantize_linear},
    {kMicrosoft, "DequantizeLinear", 1, kLatest, dequantize_linear},
    {kMicrosoft, "DynamicQuantizeMatMul", 1, kLatest, dynamic_quantize_matmul},
    {kMicrosoft, "MatMulIntegerToFloat", 1, kLatest, matmul_integer_to_float},
    {kMicrosoft, "QGemm", 1, kLatest, qgemm},
    {kMicrosoft, "QLinearAdd", 1, kLatest, qlinear_binary<BinaryFn::add>},
    {kMicrosoft, "QLinearAveragePool", 1, kLatest, qlinear_average_pool},
    {kMicrosoft, "QLinearConcat", 1, kLatest, qlinear_concat},
    {kMicrosoft, "QLinearConv", 1, kLatest, qlinear_conv},
    {kMicrosoft, "QLinearGlobalAveragePool", 1, kLatest, qlinear_global_average_pool},
    {kMicrosoft, "QLinearLeakyRelu", 1, kLatest, qlinear_leaky_relu},
    {kMicrosoft, "QLinearMul", 1, kLatest, qlinear_binary<BinaryFn::mul>},
    {kMicrosoft, "QLinearSigmoid", 1, kLatest, qlinear_sigmoid},
    {kMicrosoft, "QLinearSoftmax", 1, kLatest, qlinear_softmax},
    {kMicrosoft, "QuantizeLinear", 1, kLatest, quantize_linear},
};

}  // namespace

std::span<const Converter> quantization_converters() {
  return kConverters;
}

}  // namespace concord::importer
