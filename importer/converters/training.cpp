// Optimisers of ai.onnx.preview.training: inputs R (learning rate), T (updates so far), then as
// many X (weights), G (gradients) and states as there are weights.
#include "importer/converter_table.h"

namespace concord::importer {
namespace {

constexpr std::string_view kTraining = "ai.onnx.preview.training";

ValueId add(Conversion& c, ValueId a, ValueId b) {
  return c.binary(BinaryFn::add, a, b);
}
ValueId mul(Conversion& c, ValueId a, ValueId b) {
  return c.binary(BinaryFn::mul, a, b);
}
ValueId mul(Conversion& c, ValueId a, double b) {
  return c.binary(BinaryFn::mul, a, b);
}

// Input `group` of weight i: group 0 the weights, 1 the gradients, then the states.
struct Tensors {
  std::size_t weights;
  ValueId operator()(Conversion& c, std::size_t group, std::size_t i) const {
    return c.input(2 + group * weights + i);
  }
};

Tensors tensors_of(Conversion& c, std::size_t groups) {
  const std::size_t given = c.input_count();
  if (given < 2 + groups || (given - 2) % groups != 0) {
    c.invalid("expects R, T and " + std::to_string(groups) + " tensors for each weight, found " +
              std::to_string(given) + " inputs");
  }
  return {(given - 2) / groups};
}

ValueId regularised(Conversion& c, ValueId weight, ValueId gradient) {
  return add(c, mul(c, weight, c.number("norm_coefficient", 0)), gradient);
}

void adagrad(Conversion& c) {
  const Tensors tensors = tensors_of(c, 3);
  const ValueId updates = c.cast(c.input(1), c.dtype(c.input(0)));
  const ValueId decay = c.binary(BinaryFn::add, mul(c, updates, c.number("decay_factor", 0)), 1.0);
  const ValueId rate = c.binary(BinaryFn::div, c.input(0), decay);
  for (std::size_t i = 0; i < tensors.weights; ++i) {
    const ValueId x = tensors(c, 0, i);
    const ValueId g = regularised(c, x, tensors(c, 1, i));
    const ValueId h = add(c, tensors(c, 2, i), mul(c, g, g));
    const ValueId root = c.binary(BinaryFn::add, c.unary(UnaryFn::sqrt, h), c.number("epsilon", 0));
    const ValueId step = c.binary(BinaryFn::div, mul(c, c.cast(rate, c.dtype(x)), g), root);
    c.output(i, c.binary(BinaryFn::sub, x, step));
    c.output(tensors.weights + i, h);
  }
}

// T > 0 ? a : b, scalars of one type.
ValueId once_begun(Conversion& c, ValueId a, ValueId b) {
  return c.select(c.binary(BinaryFn::greater, c.input(1), 0.0), a, b);
}

void adam(Conversion& c) {
  const Tensors tensors = tensors_of(c, 4);
  const double alpha = c.number("alpha", 0.9F);
  const double beta = c.number("beta", 0.999F);
  const DataType type = c.dtype(c.input(0));
  const ValueId updates = c.cast(c.input(1), type);
  const auto bias = [&](double base) {  // 1 − base^T
    const ValueId power = c.binary(BinaryFn::pow, c.make_scalar(base, type), updates);
    return c.binary(BinaryFn::sub, c.make_scalar(1, type), power);
  };
  const ValueId adjusted =
      c.binary(BinaryFn::div, mul(c, c.input(0), c.unary(UnaryFn::sqrt, bias(beta))), bias(alpha));
  const ValueId rate = once_begun(c, adjusted, c.input(0));
  for (std::size_t i = 0; i < tensors.weights; ++i) {
    const ValueId x = tensors(c, 0, i);
    const ValueId g = regularised(c, x, tensors(c, 1, i));
    const ValueId v = add(c, mul(c, tensors(c, 2, i), alpha), mul(c, g, 1 - alpha));
    const ValueId h = add(c, mul(c, tensors(c, 3, i), beta), mul(c, mul(c, g, g), 1 - beta));
    const ValueId root = c.binary(BinaryFn::add, c.unary(UnaryFn::sqrt, h), c.number("epsilon", 0));
    const ValueId step = c.binary(BinaryFn::div, mul(c, c.cast(rate, c.dtype(x)), v), root);
    const ValueId moved = c.binary(BinaryFn::sub, x, step);
    c.output(i, mul(c, moved, 1 - c.number("norm_coefficient_post", 0)));
    c.output(tensors.weights + i, v);
    c.output(2 * tensors.weights + i, h);
  }
}

void momentum(Conversion& c) {
  const Tensors tensors = tensors_of(c, 3);
  const double alpha = c.number("alpha");
  const std::string mode = c.text("mode");
  if (mode != "standard" && mode != "nesterov") {
    c.invalid("attribute 'mode' is '" + mode + "', expected standard or nesterov");
  }
  const DataType type = c.dtype(c.input(0));
  const ValueId beta = once_begun(c, c.make_scalar(c.number("beta"), type), c.make_scalar(1, type));
  for (std::size_t i = 0; i < tensors.weights; ++i) {
    const ValueId x = tensors(c, 0, i);
    const ValueId g = regularised(c, x, tensors(c, 1, i));
    const ValueId v = add(c, mul(c, tensors(c, 2, i), alpha), mul(c, c.cast(beta, c.dtype(x)), g));
    const ValueId ahead = mode == "nesterov" ? add(c, g, mul(c, v, alpha)) : v;
    const ValueId step = mul(c, c.cast(c.input(0), c.dtype(x)), ahead);
    c.output(i, c.binary(BinaryFn::sub, x, step));
    c.output(tensors.weights + i, v);
  }
}

constexpr Converter kConverters[] = {
    {kTraining, "Adagrad", 1, kLatest, adagrad},
    {kTraining, "Adam", 1, kLatest, adam},
    {kTraining, "Momentum", 1, kLatest, momentum},
};

}  // namespace

std::span<const Converter> training_converters() {
  return kConverters;
}

}  // namespace concord::importer
