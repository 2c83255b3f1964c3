#include <algorithm>
#include <numbers>

#include "importer/converter_table.h"

namespace concord::importer {
namespace {

void nonzero(Conversion& c) {
  c.output(0, c.emit(OpKind::nonzero, {c.input(0)}));
}

void non_max_suppression(Conversion& c) {
  c.output(0, c.emit(OpKind::non_max_suppression,
                     {c.input(0), c.input(1), c.optional_input(2), c.optional_input(3),
                      c.optional_input(4)},
                     {{"center", std::int64_t{c.flag("center_point_box") ? 1 : 0}}}));
}

void one_hot(Conversion& c) {
  const ValueId indices = c.input(0);
  const std::int64_t axis = c.integer("axis", -1);
  c.output(0, c.emit(OpKind::one_hot, {indices, c.input(1), c.input(2)},
                     {{"axis", axis < 0 ? c.axis(axis, c.known_rank(indices) + 1) : axis}}));
}

// The positions where the condition holds, then those elements along the axis (or of all).
void compress(Conversion& c) {
  ValueId x = c.input(0);
  std::int64_t axis = 0;
  if (c.has_attribute("axis")) {
    axis = c.axis_of(c.integer("axis"), x);
  } else {
    const std::int64_t all[] = {-1};
    x = c.emit(OpKind::reshape, {x, c.make_integers(all)}, {{"allow_zero", std::int64_t{0}}});
  }
  const ValueId positions = c.emit(OpKind::nonzero, {c.input(1)});  // [1, n]
  const std::int64_t flat[] = {-1};
  const ValueId list = c.emit(OpKind::reshape, {positions, c.make_integers(flat)},
                              {{"allow_zero", std::int64_t{0}}});
  c.output(0, c.gather(x, list, axis));
}

void unique(Conversion& c) {
  const ValueId x = c.input(0);
  Attributes attrs{{"sorted", std::int64_t{c.flag("sorted", true) ? 1 : 0}}};
  if (c.has_attribute("axis")) attrs.set("axis", c.axis_of(c.integer("axis"), x));
  std::vector<bool> wanted{true};
  for (std::size_t i = 1; i < c.output_count(); ++i) wanted.push_back(c.wants_output(i));
  const auto results = c.emit_many(OpKind::unique, {x}, std::move(attrs), wanted);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].valid()) c.output(i, results[i]);
  }
}

void range(Conversion& c) {
  c.ignore({"stash_type"});
  c.output(0, c.emit(OpKind::range, {c.input(0), c.input(1), c.input(2)}));
}

void eye_like(Conversion& c) {
  const ValueId x = c.input(0);
  const std::int64_t number = c.integer("dtype", static_cast<std::int64_t>(c.dtype(x)));
  if (number <= 0 || number > static_cast<std::int64_t>(DataType::i2)) {
    c.invalid("attribute 'dtype' is " + std::to_string(number) + ", no data type");
  }
  c.output(0, c.emit(OpKind::eye_like, {x},
                     {{"to", static_cast<DataType>(number)}, {"k", c.integer("k", 0)}}));
}

void trilu(Conversion& c) {
  c.output(0, c.emit(OpKind::trilu, {c.input(0), c.optional_input(1)},
                     {{"upper", std::int64_t{c.flag("upper", true) ? 1 : 0}}}));
}

void reverse_sequence(Conversion& c) {
  const ValueId x = c.input(0);
  c.output(0, c.emit(OpKind::reverse_sequence, {x, c.input(1)},
                     {{"batch_axis", c.axis_of(c.integer("batch_axis", 1), x)},
                      {"time_axis", c.axis_of(c.integer("time_axis", 0), x)}}));
}

void einsum(Conversion& c) {
  std::string equation = c.text("equation");
  std::erase(equation, ' ');
  c.output(0, c.emit(OpKind::einsum, c.inputs(), {{"equation", equation}}));
}

// Σ aₖ·cos(2πk·n / N), n = 0 … size − 1, N = size if periodic, else size − 1.
void window(Conversion& c, std::initializer_list<double> coefficients) {
  const ValueId size = c.input(0);
  const std::int64_t number = c.integer("output_datatype", 1);
  const auto type = static_cast<DataType>(number);
  if (number < 1 || number > 26 || !is_float(type)) c.unsupported("a window that is no float");
  const bool periodic = c.flag("periodic", true);
  const DataType whole = c.dtype(size);
  const ValueId steps = c.emit(
      OpKind::range, {c.make_scalar(0, whole), c.reshape(size, {}), c.make_scalar(1, whole)});
  const ValueId n = c.cast(steps, type);
  ValueId length = c.cast(size, type);
  if (!periodic) length = c.binary(BinaryFn::sub, length, 1.0);
  ValueId sum;
  int k = 0;
  for (const double a : coefficients) {
    ValueId term;
    if (k == 0) {
      term = c.make_scalar(a, type);
    } else {
      const ValueId angle =
          c.binary(BinaryFn::div, c.binary(BinaryFn::mul, n, 2.0 * std::numbers::pi * k), length);
      term = c.binary(BinaryFn::mul, c.unary(UnaryFn::cos, angle), a);
    }
    sum = sum.valid() ? c.binary(BinaryFn::add, term, sum) : term;
    ++k;
  }
  c.output(0, sum);
}

void hann(Conversion& c) {
  window(c, {0.5, -0.5});
}
void hamming(Conversion& c) {
  window(c, {25.0 / 46.0, -21.0 / 46.0});
}
void blackman(Conversion& c) {
  window(c, {0.42, -0.5, 0.08});
}

constexpr Converter kConverters[] = {
    {kOnnx, "BlackmanWindow", 17, kLatest, blackman},
    {kOnnx, "Compress", 9, kLatest, compress},
    {kOnnx, "Einsum", 12, kLatest, einsum},
    {kOnnx, "EyeLike", 9, kLatest, eye_like},
    {kOnnx, "HammingWindow", 17, kLatest, hamming},
    {kOnnx, "HannWindow", 17, kLatest, hann},
    {kOnnx, "NonMaxSuppression", 10, kLatest, non_max_suppression},
    {kOnnx, "NonZero", 9, kLatest, nonzero},
    {kOnnx, "OneHot", 9, kLatest, one_hot},
    {kOnnx, "Range", 11, kLatest, range},
    {kOnnx, "ReverseSequence", 10, kLatest, reverse_sequence},
    {kOnnx, "Trilu", 14, kLatest, trilu},
    {kOnnx, "Unique", 11, kLatest, unique},
    {kMicrosoft, "Range", 1, kLatest, range},
    {kMicrosoft, "Trilu", 1, kLatest, trilu},
};

}  // namespace

std::span<const Converter> indexing_converters() {
  return kConverters;
}

}  // namespace concord::importer
