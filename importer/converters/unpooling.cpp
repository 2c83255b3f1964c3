// What puts blocks or maxima back where they came from, by scattering.
#include <numeric>

#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

ValueId reshape_to(Conversion& c, ValueId x, const std::vector<std::int64_t>& shape) {
  return c.emit(OpKind::reshape, {x, c.make_integers(shape)}, {{"allow_zero", std::int64_t{0}}});
}

// x [N, C·k…, blocks…] → y [N, C, image…]: each element of a block is added where it lies in the
// image. Extents of blocks and image may be known only when running.
void col2im(Conversion& c) {
  const ValueId x = c.input(0);
  const ValueId image = c.cast(c.input(1), DataType::i64);  // [r]
  const ValueId block = c.cast(c.input(2), DataType::i64);  // [r]
  const auto length = c.known_shape(image).at(0).constant();
  if (!length || *length < 1) c.unsupported("a number of axes that is known only when running");
  const auto r = static_cast<std::size_t>(*length);
  const auto strides = integers_or(c, "strides", r, 1);
  const auto dilations = integers_or(c, "dilations", r, 1);
  const auto pads = integers_or(c, "pads", 2 * r, 0);
  const DataType whole = DataType::i64;
  const ValueId zero = c.make_scalar(0, whole);
  const ValueId one = c.make_scalar(1, whole);
  const auto count_to = [&](ValueId n) { return c.emit(OpKind::range, {zero, n, one}); };
  const auto element = [&](ValueId list, std::size_t i) {
    const auto at = static_cast<std::int64_t>(i);
    return c.reshape(c.slice(list, 0, at, at + 1), {});
  };
  // Along each axis of the padded image: its extent, and for block element k of block b the place
  // k·dilation + b·stride; together [k…, b…].
  std::vector<ValueId> extents(r);
  ValueId place;
  ValueId step = one;  // elements from one index of the axis to the next
  for (std::size_t d = r; d-- > 0;) {
    const ValueId size = element(block, d);
    extents[d] =
        c.binary(BinaryFn::add, element(image, d), static_cast<double>(pads[d] + pads[d + r]));
    const ValueId reach = c.binary(BinaryFn::sub, c.binary(BinaryFn::sub, extents[d], 1.0),
                                   c.binary(BinaryFn::mul, c.binary(BinaryFn::sub, size, 1.0),
                                            static_cast<double>(dilations[d])));
    const ValueId blocks = c.binary(
        BinaryFn::add, c.binary(BinaryFn::div, reach, static_cast<double>(strides[d])), 1.0);
    std::vector<std::int64_t> as_block(2 * r, 1);
    std::vector<std::int64_t> as_element(2 * r, 1);
    as_element[d] = -1;
    as_block[d + r] = -1;
    const ValueId inside = reshape_to(
        c, c.binary(BinaryFn::mul, count_to(size), static_cast<double>(dilations[d])), as_element);
    const ValueId start = reshape_to(
        c, c.binary(BinaryFn::mul, count_to(blocks), static_cast<double>(strides[d])), as_block);
    const ValueId along = c.binary(BinaryFn::mul, c.binary(BinaryFn::add, inside, start), step);
    place = place.valid() ? c.binary(BinaryFn::add, place, along) : along;
    step = c.binary(BinaryFn::mul, step, extents[d]);
  }
  const ValueId places = reshape_to(c, place, {-1, 1});
  // [blocks' elements, N·C].
  const ValueId total =
      c.emit(OpKind::shape_of, {places}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  const std::int64_t any[] = {-1};
  const ValueId rows = c.emit(OpKind::reshape, {x, c.concat({c.make_integers(any), total}, 0)},
                              {{"allow_zero", std::int64_t{0}}});
  const ValueId updates = c.transpose(rows, {1, 0});
  const ValueId planes =
      c.emit(OpKind::shape_of, {rows}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  const std::int64_t single[] = {1};
  const ValueId pixels =
      c.emit(OpKind::reshape, {step, c.make_integers(single)}, {{"allow_zero", std::int64_t{0}}});
  const ValueId nothing = c.emit(OpKind::constant_of, {c.concat({pixels, planes}, 0)},
                                 {{"value", Tensor::zeros(c.dtype(x), {1})}});
  const ValueId summed =
      c.emit(OpKind::scatter_nd, {nothing, places, updates}, {{"reduction", std::string("add")}});
  // [N, C, padded image…], then without the padding.
  std::vector<ValueId> shape{
      c.emit(OpKind::shape_of, {x}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}}),
      c.make_integers(any)};
  for (const ValueId extent : extents) {
    shape.push_back(c.emit(OpKind::reshape, {extent, c.make_integers(single)},
                           {{"allow_zero", std::int64_t{0}}}));
  }
  const ValueId padded = c.emit(OpKind::reshape, {c.transpose(summed, {1, 0}), c.concat(shape, 0)},
                                {{"allow_zero", std::int64_t{0}}});
  std::vector<std::int64_t> axes(r);
  std::iota(axes.begin(), axes.end(), 2);
  const ValueId starts = c.make_integers(std::span<const std::int64_t>(pads).first(r));
  const ValueId ends = c.binary(BinaryFn::add, image, starts);
  c.output(0, c.emit(OpKind::slice, {padded, starts, ends, c.make_integers(axes)}));
}

// Zeros but for the elements of x, each at its flat index; then cut or filled up to output_shape.
void max_unpool(Conversion& c) {
  const ValueId x = c.input(0);
  SymShape shape = c.known_shape(x);
  if (shape.size() < 3) c.invalid("expects rank 3 or more");
  const std::size_t r = shape.size() - 2;
  if (!c.has_attribute("kernel_shape")) c.invalid("attribute 'kernel_shape' is missing");
  const auto kernel = integers_or(c, "kernel_shape", r, 1);
  const auto strides = integers_or(c, "strides", r, 1);
  const auto pads = integers_or(c, "pads", 2 * r, 0);
  for (std::size_t d = 0; d < r; ++d) {
    shape[d + 2] =
        (shape[d + 2] - Dim(1)) * Dim(strides[d]) + Dim(kernel[d]) - Dim(pads[d] + pads[d + r]);
  }
  const Dim count = product(c.known_shape(x));
  const ValueId nothing =
      c.emit(OpKind::constant_of, {},
             {{"shape", SymShape{product(shape)}}, {"value", Tensor::zeros(c.dtype(x), {1})}});
  const ValueId placed = c.emit(OpKind::scatter_elements,
                                {nothing, c.reshape(c.input(1), {count}), c.reshape(x, {count})},
                                {{"axis", std::int64_t{0}}, {"reduction", std::string("none")}});
  ValueId y = c.reshape(placed, shape);
  if (c.has_input(2)) {
    const ValueId size =
        c.emit(OpKind::shape_of, {y}, {{"start", std::int64_t{0}}, {"end", INT64_MAX}});
    const ValueId more = c.binary(BinaryFn::sub, c.cast(c.input(2), DataType::i64), size);
    const ValueId none =
        c.make_constant(Tensor::zeros(DataType::i64, {static_cast<std::int64_t>(shape.size())}));
    y = c.emit(OpKind::pad, {y, c.concat({none, more}, 0)}, {{"mode", std::string("constant")}});
  }
  c.output(0, y);
}

constexpr Converter kConverters[] = {
    {kOnnx, "Col2Im", 18, kLatest, col2im},
    {kOnnx, "MaxUnpool", 9, kLatest, max_unpool},
};

}  // namespace

std::span<const Converter> unpooling_converters() {
  return kConverters;
}

}  // namespace concord::importer
