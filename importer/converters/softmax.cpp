#include "importer/converter_table.h"

namespace concord::importer {
namespace {

ValueId softmax_along(Conversion& c, ValueId x, std::int64_t axis, bool log) {
  return c.emit(
      OpKind::softmax, {x},
      {{"axis", axis}, {"log", std::int64_t{log ? 1 : 0}}, {"nan_to_zero", std::int64_t{0}}});
}

// Before opset 13 all axes from `axis` on were taken together.
template <bool log>
void softmax(Conversion& c) {
  const ValueId x = c.input(0);
  if (c.opset() >= 13) {
    return c.output(0, softmax_along(c, x, c.axis_of(c.integer("axis", -1), x), log));
  }
  const SymShape shape = c.known_shape(x);
  const std::int64_t axis = c.axis_of(c.integer("axis", 1), x);
  const auto at = static_cast<std::size_t>(axis);
  if (at + 1 == shape.size()) return c.output(0, softmax_along(c, x, axis, log));
  const std::span<const Dim> all(shape);
  const ValueId flat = c.reshape(x, {product(all.first(at)), product(all.subspan(at))});
  c.output(0, c.reshape(softmax_along(c, flat, 1, log), shape));
}

// One at the first largest element, zero elsewhere.
void hardmax(Conversion& c) {
  ValueId x = c.input(0);
  const SymShape shape = c.known_shape(x);
  const bool flat = c.opset() < 13;
  std::int64_t axis = c.axis_of(c.integer("axis", flat ? 1 : -1), x);
  if (flat) {
    const std::span<const Dim> all(shape);
    const auto at = static_cast<std::size_t>(axis);
    x = c.reshape(x, {product(all.first(at)), product(all.subspan(at))});
    axis = 1;
  }
  const ValueId best = c.emit(OpKind::arg_reduce, {x},
                              {{"fn", std::string("argmax")},
                               {"axis", axis},
                               {"keepdims", std::int64_t{0}},
                               {"select_last", std::int64_t{0}}});
  const ValueId zero = c.make_scalar(0, c.dtype(x));
  const ValueId one = c.make_scalar(1, c.dtype(x));
  const ValueId values = c.concat({c.reshape(zero, {1}), c.reshape(one, {1})}, 0);
  const Dim depth = c.known_shape(x)[static_cast<std::size_t>(axis)];
  const ValueId hot = c.emit(OpKind::one_hot, {best, ValueId{}, values},
                             {{"axis", axis}, {"depth", SymShape{depth}}});
  c.output(0, flat ? c.reshape(hot, shape) : hot);
}

constexpr Converter kConverters[] = {
    {kOnnx, "Hardmax", 1, kLatest, hardmax},
    {kOnnx, "LogSoftmax", 1, kLatest, softmax<true>},
    {kOnnx, "Softmax", 1, kLatest, softmax<false>},
};

}  // namespace

std::span<const Converter> softmax_converters() {
  return kConverters;
}

}  // namespace concord::importer
