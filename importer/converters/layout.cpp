#include <algorithm>
#include <numeric>

#include "importer/converter_table.h"

namespace concord::importer {
namespace {

void transpose(Conversion& c) {
  const ValueId x = c.input(0);
  auto perm = c.integers("perm");
  if (!perm || perm->empty()) {
    perm.emplace(static_cast<std::size_t>(c.known_rank(x)));
    std::iota(perm->rbegin(), perm->rend(), 0);
  }
  const auto rank = static_cast<std::int64_t>(perm->size());
  if (c.rank(x) && *c.rank(x) != rank) {
    c.invalid("attribute 'perm' has " + std::to_string(rank) + " axes, the input has rank " +
              std::to_string(*c.rank(x)));
  }
  // Sorted, the axes must be 0 … rank − 1: each once.
  const std::vector<std::int64_t> axes = c.axes(*perm, rank);
  c.output(0, c.emit(OpKind::transpose, {x}, {{"perm", axes}}));
}

void concat(Conversion& c) {
  const std::vector<ValueId> parts = c.inputs();
  if (parts.empty()) c.invalid("it has no inputs");
  const std::int64_t axis = c.opset() < 4 ? c.integer("axis", 1) : c.integer("axis");
  // Any part tells the rank that a negative axis counts from.
  ValueId known = parts.front();
  for (const ValueId part : parts) {
    if (c.rank(part)) known = part;
  }
  c.output(0, c.concat(parts, c.axis_of(axis, known)));
}

// Sizes: an attribute up to opset 12, then an input, or (18) a number of equal parts.
void split(Conversion& c) {
  const ValueId x = c.input(0);
  const auto outputs = static_cast<std::size_t>(c.output_count());
  const std::int64_t axis = c.axis_of(c.integer("axis", 0), x);
  ValueId sizes = c.opset() < 2 ? ValueId{} : c.optional_input(1);
  if (const auto list = c.integers("split"); list && !list->empty()) {
    sizes = c.make_integers(*list);
  }
  const std::int64_t parts = c.integer("num_outputs", static_cast<std::int64_t>(outputs));
  // Outputs may be left out at the end only where the rest is known to be unused.
  if (parts < static_cast<std::int64_t>(outputs) || parts > 4096) {
    c.invalid("attribute 'num_outputs' is " + std::to_string(parts) + " for " +
              std::to_string(outputs) + " outputs");
  }
  auto made = static_cast<std::size_t>(parts);
  if (sizes.valid()) {
    const auto known = c.known_contents(sizes);
    made = known ? std::max(outputs, known->size()) : outputs;
  }
  const auto results =
      c.emit_many(OpKind::split, {x, sizes}, {{"axis", axis}}, std::vector<bool>(made, true));
  for (std::size_t i = 0; i < outputs; ++i) c.output(i, results[i]);
}

// Bounds were attributes up to opset 9.
void slice(Conversion& c) {
  const ValueId x = c.input(0);
  if (c.opset() >= 10) {
    return c.output(0, c.emit(OpKind::slice, {x, c.input(1), c.input(2), c.optional_input(3),
                                              c.optional_input(4)}));
  }
  const auto starts = c.integers("starts");
  const auto ends = c.integers("ends");
  if (!starts || !ends) c.invalid("attribute 'starts' or 'ends' is missing");
  ValueId axes;
  if (const auto given = c.integers("axes")) axes = c.make_integers(*given);
  c.output(0, c.emit(OpKind::slice, {x, c.make_integers(*starts), c.make_integers(*ends), axes}));
}

void pad(Conversion& c) {
  const ValueId x = c.input(0);
  const std::string mode = c.text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    c.invalid("attribute 'mode' is '" + mode + "', expected constant, reflect, edge or wrap");
  }
  if (c.opset() >= 11 || c.domain() == kMicrosoft) {
    return c.output(0,
                    c.emit(OpKind::pad, {x, c.input(1), c.optional_input(2), c.optional_input(3)},
                           {{"mode", mode}}));
  }
  const auto pads = c.integers(c.opset() < 2 ? "paddings" : "pads");
  if (!pads) c.invalid("attribute 'pads' is missing");
  const double value = c.number("value", 0.0);
  c.output(0, c.emit(OpKind::pad, {x, c.make_integers(*pads), c.make_scalar(value, c.dtype(x))},
                     {{"mode", mode}}));
}

// x [N, C, H, W]; blocks of b × b elements move between the channels and the plane.
void depth_to_space(Conversion& c) {
  const ValueId x = c.input(0);
  const SymShape s = c.known_shape(x);
  const std::int64_t b = c.integer("blocksize");
  const std::string mode = c.text("mode", "DCR");
  if (s.size() != 4 || b < 1) c.invalid("expects rank 4 and a positive blocksize");
  const Dim channels = Dim::floor_div(s[1], Dim(b) * Dim(b));
  const bool depth_first = mode == "DCR";
  if (!depth_first && mode != "CRD") c.invalid("attribute 'mode' is '" + mode + "'");
  const SymShape split = depth_first ? SymShape{s[0], b, b, channels, s[2], s[3]}
                                     : SymShape{s[0], channels, b, b, s[2], s[3]};
  const std::vector<std::int64_t> perm = depth_first ? std::vector<std::int64_t>{0, 3, 4, 1, 5, 2}
                                                     : std::vector<std::int64_t>{0, 1, 4, 2, 5, 3};
  const ValueId moved = c.transpose(c.reshape(x, split), perm);
  c.output(0, c.reshape(moved, {s[0], channels, s[2] * Dim(b), s[3] * Dim(b)}));
}

void space_to_depth(Conversion& c) {
  const ValueId x = c.input(0);
  const SymShape s = c.known_shape(x);
  const std::int64_t b = c.integer("blocksize");
  if (s.size() != 4 || b < 1) c.invalid("expects rank 4 and a positive blocksize");
  const Dim h = Dim::floor_div(s[2], b);
  const Dim w = Dim::floor_div(s[3], b);
  const ValueId moved = c.transpose(c.reshape(x, {s[0], s[1], h, b, w, b}), {0, 3, 5, 1, 2, 4});
  c.output(0, c.reshape(moved, {s[0], s[1] * Dim(b) * Dim(b), h, w}));
}

// Crops or pads about the centre to given extents, which may be known only when running.
void center_crop_pad(Conversion& c) {
  const ValueId x = c.input(0);
  const std::int64_t rank = c.known_rank(x);
  const ValueId target = c.cast(c.input(1), DataType::i64);
  auto axes = c.integers("axes");
  if (!axes) {
    axes.emplace(static_cast<std::size_t>(rank));
    std::iota(axes->begin(), axes->end(), 0);
  }
  axes = c.axes(*axes, rank);
  const auto given = c.known_shape(target).at(0).constant();
  if (given && *given != static_cast<std::int64_t>(axes->size())) {
    c.invalid("shape and axes differ in length");
  }
  const ValueId axis_list = c.make_integers(*axes);
  const ValueId shape =
      c.emit(OpKind::shape_of, {x}, {{"start", std::int64_t{0}}, {"end", INT64_MAX}});
  const ValueId size = c.gather(shape, axis_list, 0);
  // The surplus on both sides; an odd one leaves more at the end.
  const auto surplus = [&](ValueId a, ValueId b) {
    return c.binary(BinaryFn::max, c.binary(BinaryFn::sub, a, b), 0.0);
  };
  const ValueId starts = c.binary(BinaryFn::div, surplus(size, target), 2.0);
  const ValueId ends = c.binary(BinaryFn::add, starts, c.binary(BinaryFn::min, size, target));
  const ValueId cropped = c.emit(OpKind::slice, {x, starts, ends, axis_list});
  const ValueId missing = surplus(target, size);
  const ValueId before = c.binary(BinaryFn::div, missing, 2.0);
  const ValueId after = c.binary(BinaryFn::sub, missing, before);
  c.output(0, c.emit(OpKind::pad, {cropped, c.concat({before, after}, 0), ValueId{}, axis_list},
                     {{"mode", std::string("constant")}}));
}

constexpr Converter kConverters[] = {
    {kOnnx, "CenterCropPad", 18, kLatest, center_crop_pad},
    {kOnnx, "Concat", 1, kLatest, concat},
    {kOnnx, "DepthToSpace", 1, kLatest, depth_to_space},
    {kOnnx, "Pad", 1, kLatest, pad},
    {kOnnx, "Slice", 1, kLatest, slice},
    {kOnnx, "SpaceToDepth", 1, kLatest, space_to_depth},
    {kOnnx, "Split", 1, kLatest, split},
    {kOnnx, "Transpose", 1, kLatest, transpose},
    {kMicrosoft, "Pad", 1, kLatest, pad},
};

}  // namespace

std::span<const Converter> layout_converters() {
  return kConverters;
}

}  // namespace concord::importer
