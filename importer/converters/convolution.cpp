#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

// kernel_shape repeats what the weight's shape says.
void check_kernel(Conversion& c, ValueId weight) {
  const auto kernel = c.integers("kernel_shape");
  if (!kernel || kernel->empty() || !c.shape(weight)) return;
  const SymShape& shape = *c.shape(weight);
  bool fits = shape.size() == kernel->size() + 2;
  for (std::size_t i = 0; fits && i < kernel->size(); ++i) {
    const auto extent = shape[i + 2].constant();
    fits = !extent || *extent == (*kernel)[i];
  }
  if (!fits) {
    c.invalid("attribute 'kernel_shape' is " + to_string(std::span<const std::int64_t>(*kernel)) +
              ", the weight has shape " + to_string(std::span<const Dim>(shape)));
  }
}

Attributes window_of(Conversion& c, ValueId weight) {
  check_kernel(c, weight);
  Attributes attrs{{"group", c.integer("group", 1)}};
  read_window(c, attrs);
  return attrs;
}

void conv(Conversion& c) {
  c.output(0, c.emit(OpKind::conv, {c.input(0), c.input(1), c.optional_input(2)},
                     window_of(c, c.input(1))));
}

void conv_transpose(Conversion& c) {
  Attributes attrs = window_of(c, c.input(1));
  if (const auto padding = c.integers("output_padding")) attrs.set("output_padding", *padding);
  if (const auto shape = c.integers("output_shape"); shape && !shape->empty()) {
    attrs.set("output_shape", *shape);
  }
  c.output(0, c.emit(OpKind::conv_transpose, {c.input(0), c.input(1), c.optional_input(2)},
                     std::move(attrs)));
}

// com.microsoft: activation(conv(x, w) + b + z).
void fused_conv(Conversion& c) {
  ValueId y =
      c.emit(OpKind::conv, {c.input(0), c.input(1), c.optional_input(2)}, window_of(c, c.input(1)));
  if (c.has_input(3)) y = c.binary(BinaryFn::add, y, c.input(3));
  const auto parameters = c.numbers("activation_params").value_or(std::vector<double>{});
  const auto parameter = [&](std::size_t i) {
    return i < parameters.size() ? std::optional(parameters[i]) : std::nullopt;
  };
  c.output(0, activate(c, c.text("activation", ""), y, parameter(0), parameter(1)));
}

// Exact in float64: products of bytes, summed far below 2^53.
void conv_integer(Conversion& c) {
  const auto centred = [&](std::size_t i, std::size_t zero, bool per_filter) {
    const ValueId x = c.cast(c.input(i), DataType::f64);
    if (!c.has_input(zero)) return x;
    ValueId z = c.cast(c.input(zero), DataType::f64);
    if (per_filter && c.rank(z) == 1) {
      SymShape shape = c.known_shape(z);
      shape.insert(shape.end(), static_cast<std::size_t>(c.known_rank(x) - 1), Dim(1));
      z = c.reshape(z, std::move(shape));
    }
    return c.binary(BinaryFn::sub, x, z);
  };
  const ValueId y =
      c.emit(OpKind::conv, {centred(0, 2, false), centred(1, 3, true)}, window_of(c, c.input(1)));
  c.output(0, c.cast(y, DataType::i32));
}

constexpr Converter kConverters[] = {
    {kOnnx, "Conv", 1, kLatest, conv},
    {kOnnx, "ConvInteger", 10, kLatest, conv_integer},
    {kOnnx, "ConvTranspose", 1, kLatest, conv_transpose},
    {kMicrosoft, "FusedConv", 1, kLatest, fused_conv},
};

}  // namespace

std::span<const Converter> convolution_converters() {
  return kConverters;
}

}  // namespace concord::importer
