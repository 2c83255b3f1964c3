#include "importer/converter_table.h"

namespace concord::importer {
namespace {

// Before opset 7 the second operand was fitted to the first only where broadcast=1 said so, from
// `axis` on; since then numpy's rule holds.
ValueId second_operand(Conversion& c) {
  const ValueId b = c.input(1);
  if (c.opset() >= 7) return b;
  c.ignore({"consumed_inputs"});
  if (!c.flag("broadcast") || !c.has_attribute("axis")) return b;
  const std::int64_t rank = c.known_rank(c.input(0));
  const std::int64_t axis = c.axis(c.integer("axis"), rank);
  SymShape shape = c.known_shape(b);
  const std::int64_t behind = rank - axis - static_cast<std::int64_t>(shape.size());
  if (behind < 0) c.invalid("attribute 'axis' leaves no room for input 1");
  shape.insert(shape.end(), static_cast<std::size_t>(behind), Dim(1));
  return c.reshape(b, std::move(shape));
}

template <BinaryFn fn>
void plain(Conversion& c) {
  c.output(0, c.binary(fn, c.input(0), second_operand(c)));
}

// Any number of operands, from the left.
template <BinaryFn fn>
void variadic(Conversion& c) {
  c.ignore({"consumed_inputs"});
  const std::vector<ValueId> operands = c.inputs();
  if (operands.empty()) c.invalid("it has no inputs");
  ValueId x = operands.front();
  for (std::size_t i = 1; i < operands.size(); ++i) x = c.binary(fn, x, operands[i]);
  c.output(0, x);
}

void mean(Conversion& c) {
  c.ignore({"consumed_inputs"});
  const std::vector<ValueId> operands = c.inputs();
  if (operands.empty()) c.invalid("it has no inputs");
  ValueId sum = operands.front();
  for (std::size_t i = 1; i < operands.size(); ++i) sum = c.binary(BinaryFn::add, sum, operands[i]);
  if (operands.size() > 1) {
    sum = c.binary(BinaryFn::div, sum, static_cast<double>(operands.size()));
  }
  c.output(0, sum);
}

void mod(Conversion& c) {
  const bool fmod = c.flag("fmod");
  if (!fmod && is_float(c.dtype(c.input(0)))) {
    c.invalid("attribute 'fmod' is 0 for floating-point inputs, expected 1");
  }
  c.output(0, c.binary(fmod ? BinaryFn::fmod : BinaryFn::mod, c.input(0), c.input(1)));
}

void bit_shift(Conversion& c) {
  const std::string direction = c.text("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    c.invalid("attribute 'direction' is '" + direction + "', expected LEFT or RIGHT");
  }
  c.output(0, c.binary(direction == "LEFT" ? BinaryFn::shift_left : BinaryFn::shift_right,
                       c.input(0), c.input(1)));
}

void prelu(Conversion& c) {
  c.ignore({"consumed_inputs"});
  ValueId slope = c.input(1);
  if (c.opset() < 7 && c.rank(slope) == 1) {
    // One slope per channel, axis 1; or one for all.
    const std::int64_t rank = c.known_rank(c.input(0));
    SymShape shape = c.known_shape(slope);
    if (!shape.front().is_constant(1) && rank > 2) {
      shape.insert(shape.end(), static_cast<std::size_t>(rank - 2), Dim(1));
      slope = c.reshape(slope, std::move(shape));
    }
  }
  c.output(0, c.binary(BinaryFn::prelu, c.input(0), slope));
}

void where(Conversion& c) {
  c.output(0, c.select(c.input(0), c.input(1), c.input(2)));
}

// com.microsoft: x + bias + skip, bias per channel.
void bias_add(Conversion& c) {
  c.output(0, c.binary(BinaryFn::add, c.binary(BinaryFn::add, c.input(0), c.input(1)), c.input(2)));
}

constexpr Converter kConverters[] = {
    {kOnnx, "Add", 1, kLatest, plain<BinaryFn::add>},
    {kOnnx, "And", 1, kLatest, plain<BinaryFn::logical_and>},
    {kOnnx, "BitShift", 11, kLatest, bit_shift},
    {kOnnx, "BitwiseAnd", 18, kLatest, plain<BinaryFn::bit_and>},
    {kOnnx, "BitwiseOr", 18, kLatest, plain<BinaryFn::bit_or>},
    {kOnnx, "BitwiseXor", 18, kLatest, plain<BinaryFn::bit_xor>},
    {kOnnx, "Div", 1, kLatest, plain<BinaryFn::div>},
    {kOnnx, "Equal", 1, kLatest, plain<BinaryFn::equal>},
    {kOnnx, "Greater", 1, kLatest, plain<BinaryFn::greater>},
    {kOnnx, "GreaterOrEqual", 12, kLatest, plain<BinaryFn::greater_equal>},
    {kOnnx, "Less", 1, kLatest, plain<BinaryFn::less>},
    {kOnnx, "LessOrEqual", 12, kLatest, plain<BinaryFn::less_equal>},
    {kOnnx, "Max", 1, kLatest, variadic<BinaryFn::max>},
    {kOnnx, "Mean", 1, kLatest, mean},
    {kOnnx, "Min", 1, kLatest, variadic<BinaryFn::min>},
    {kOnnx, "Mod", 10, kLatest, mod},
    {kOnnx, "Mul", 1, kLatest, plain<BinaryFn::mul>},
    {kOnnx, "Or", 1, kLatest, plain<BinaryFn::logical_or>},
    {kOnnx, "PRelu", 1, kLatest, prelu},
    {kOnnx, "Pow", 1, kLatest, plain<BinaryFn::pow>},
    {kOnnx, "Sub", 1, kLatest, plain<BinaryFn::sub>},
    {kOnnx, "Sum", 1, kLatest, variadic<BinaryFn::add>},
    {kOnnx, "Where", 9, kLatest, where},
    {kOnnx, "Xor", 1, kLatest, plain<BinaryFn::logical_xor>},
    {kMicrosoft, "BiasAdd", 1, kLatest, bias_add},
};

}  // namespace

std::span<const Converter> binary_converters() {
  return kConverters;
}

}  // namespace concord::importer
