#include <algorithm>

#include "importer/converter_table.h"

namespace concord::importer {
namespace {

void shape_of(Conversion& c) {
  const ValueId x = c.input(0);
  std::int64_t start = c.integer("start", 0);
  std::int64_t end = c.integer("end", INT64_MAX);
  if (const auto rank = c.rank(x)) {
    const auto clamp = [&](std::int64_t v) {
      return std::clamp<std::int64_t>(v < 0 ? v + *rank : v, 0, *rank);
    };
    start = clamp(start);
    end = std::max(start, clamp(end));
  }
  c.output(0, c.emit(OpKind::shape_of, {x}, {{"start", start}, {"end", end}}));
}

ValueId shape_tensor(Conversion& c, ValueId x) {
  return c.emit(OpKind::shape_of, {x}, {{"start", std::int64_t{0}}, {"end", INT64_MAX}});
}

void size(Conversion& c) {
  const ValueId shape =
      c.emit(OpKind::shape_of, {c.input(0)}, {{"start", std::int64_t{0}}, {"end", INT64_MAX}});
  c.output(0, c.reduce(ReduceFn::prod, shape, {0}, false));
}

void reshape(Conversion& c) {
  c.ignore({"consumed_inputs"});
  const std::int64_t allow_zero = c.flag("allowzero") ? 1 : 0;
  const ValueId shape =
      c.opset() < 5 ? c.make_integers(c.integers("shape").value_or(std::vector<std::int64_t>{}))
                    : c.input(1);
  c.output(0, c.emit(OpKind::reshape, {c.input(0), shape}, {{"allow_zero", allow_zero}}));
}

void flatten(Conversion& c) {
  const ValueId x = c.input(0);
  const SymShape shape = c.known_shape(x);
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::int64_t axis = c.integer("axis", 1);
  if (axis < -rank || axis > rank) {
    c.invalid("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
  }
  if (axis < 0) axis += rank;
  const std::span<const Dim> all(shape);
  c.output(0, c.reshape(x, {product(all.first(static_cast<std::size_t>(axis))),
                            product(all.subspan(static_cast<std::size_t>(axis)))}));
}

// Where a runtime list of axes of a tensor of this rank has no entry: positions [rank − entries],
// ascending.
ValueId other_axes(Conversion& c, ValueId axes, std::int64_t rank) {
  const SymShape list = c.known_shape(axes);
  if (list.size() != 1) c.invalid("its axes have rank " + std::to_string(list.size()));
  const auto entries = list.front().constant();
  if (!entries || *entries > rank)
    c.unsupported("a number of axes that is known only when running");
  const ValueId whole = c.cast(axes, DataType::i64);
  const ValueId canonical =
      c.select(c.binary(BinaryFn::less, whole, 0.0),
               c.binary(BinaryFn::add, whole, static_cast<double>(rank)), whole);
  const ValueId none = c.make_constant(Tensor::zeros(DataType::i64, {rank}));
  const ValueId ones = c.broadcast(c.make_scalar(1, DataType::i64), {*entries});
  const ValueId marked = c.emit(OpKind::scatter_elements, {none, canonical, ones},
                                {{"axis", std::int64_t{0}}, {"reduction", std::string("none")}});
  const ValueId rest = c.emit(OpKind::nonzero, {c.binary(BinaryFn::equal, marked, 0.0)});
  return c.reshape(rest, {rank - *entries});
}

ValueId reshape_to(Conversion& c, ValueId x, ValueId shape) {
  return c.emit(OpKind::reshape, {x, shape}, {{"allow_zero", std::int64_t{1}}});
}

// Axes were an attribute up to opset 12.
void squeeze(Conversion& c) {
  const ValueId x = c.input(0);
  const SymShape shape = c.known_shape(x);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const bool is_given = c.has_input(1) || c.has_attribute("axes");
  auto axes = c.integers_of(1, "axes");
  if (is_given && !axes) {
    const ValueId kept = other_axes(c, c.input(1), rank);
    return c.output(0, reshape_to(c, x, c.gather(shape_tensor(c, x), kept, 0)));
  }
  std::vector<bool> gone(shape.size(), false);
  if (is_given) {
    for (const std::int64_t axis : c.axes(*axes, rank)) {
      const auto at = static_cast<std::size_t>(axis);
      const auto extent = shape[at].constant();
      if (extent && *extent != 1) {
        c.invalid("axis " + std::to_string(axis) + " of shape " +
                  to_string(std::span<const Dim>(shape)) + " is not 1");
      }
      gone[at] = true;
    }
  } else {
    if (std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return d.has_dynamic(); })) {
      const ValueId extents = shape_tensor(c, x);
      const ValueId is_one = c.binary(BinaryFn::equal, extents, 1.0);
      const ValueId kept =
          c.emit(OpKind::nonzero, {c.unary(UnaryFn::logical_not, is_one)});  // [1, ?]
      const ValueId found = c.reshape(kept, {c.known_shape(kept).back()});
      return c.output(0, reshape_to(c, x, c.gather(extents, found, 0)));
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
      gone[i] = shape[i].is_constant(1);
      if (!shape[i].is_constant()) {
        c.oddity(
            "Squeeze without axes on a symbolic shape: only axes that are always 1 are removed");
      }
    }
  }
  SymShape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!gone[i]) result.push_back(shape[i]);
  }
  c.output(0, c.reshape(x, std::move(result)));
}

// Of a tensor whose rank only a run can tell: ones are put into its extents, first axis first.
ValueId unsqueeze_any_rank(Conversion& c, ValueId x, std::vector<std::int64_t> axes) {
  std::sort(axes.begin(), axes.end());
  const bool from_end = !axes.empty() && axes.front() < 0;
  if (from_end && axes.back() >= 0) {
    c.unsupported("axes from both ends of a rank that is known only when running");
  }
  ValueId extents = shape_tensor(c, x);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t from[] = {begin};
    const std::int64_t to[] = {end};
    return c.emit(OpKind::slice, {extents, c.make_integers(from), c.make_integers(to)});
  };
  const std::int64_t one[] = {1};
  // The outermost first: those behind it are in place.
  if (from_end) std::reverse(axes.begin(), axes.end());
  for (const std::int64_t axis : axes) {
    const std::int64_t at = from_end ? axis + 1 : axis;
    if (from_end && at == 0) {
      extents = c.concat({extents, c.make_integers(one)}, 0);
    } else {
      extents = c.concat({part(0, at), c.make_integers(one), part(at, INT64_MAX)}, 0);
    }
  }
  return reshape_to(c, x, extents);
}

void unsqueeze(Conversion& c) {
  const ValueId x = c.input(0);
  const bool is_given = c.has_input(1) || c.has_attribute("axes");
  if (!is_given) c.invalid("it has no axes");
  const auto axes = c.integers_of(1, "axes");
  if (axes && !c.shape(x)) return c.output(0, unsqueeze_any_rank(c, x, *axes));
  if (axes) {
    const std::int64_t rank = c.known_rank(x) + static_cast<std::int64_t>(axes->size());
    return c.output(0, c.unsqueeze(x, c.axes(*axes, rank)));
  }
  const SymShape list = c.known_shape(c.input(1));
  if (list.size() != 1) c.invalid("its axes have rank " + std::to_string(list.size()));
  const auto added = list.front().constant();
  if (!added || *added > 64) c.unsupported("a number of axes that is known only when running");
  const std::int64_t rank = c.known_rank(x) + *added;
  const ValueId old = other_axes(c, c.input(1), rank);
  const ValueId ones = c.broadcast(c.make_scalar(1, DataType::i64), {rank});
  c.output(0, reshape_to(c, x,
                         c.emit(OpKind::scatter_elements, {ones, old, shape_tensor(c, x)},
                                {{"axis", std::int64_t{0}}, {"reduction", std::string("none")}})));
}

void expand(Conversion& c) {
  c.output(0, c.emit(OpKind::broadcast, {c.input(0), c.input(1)}));
}

void tile(Conversion& c) {
  const ValueId x = c.input(0);
  if (c.opset() >= 6) {
    return c.output(0, c.emit(OpKind::tile, {x, c.input(1)}));
  }
  // Up to opset 5: one axis, so many times.
  const auto times = c.known_integers(c.input(1));
  const auto axis = c.known_integers(c.input(2));
  if (!times || times->size() != 1 || !axis || axis->size() != 1) {
    c.unsupported("tiles and axis that are known only when running");
  }
  const std::int64_t rank = c.known_rank(x);
  std::vector<std::int64_t> repeats(static_cast<std::size_t>(rank), 1);
  repeats[static_cast<std::size_t>(c.axis(axis->front(), rank))] = times->front();
  c.output(0, c.emit(OpKind::tile, {x, c.make_integers(repeats)}));
}

// com.microsoft: one axis, at the place that input 1 says.
void expand_dims(Conversion& c) {
  const ValueId x = c.input(0);
  const auto axis = c.known_integers(c.input(1));
  if (!axis || axis->size() != 1) c.unsupported("an axis that is known only when running");
  c.output(0, c.unsqueeze(x, c.axes(*axis, c.known_rank(x) + 1)));
}

constexpr Converter kConverters[] = {
    {kOnnx, "Expand", 8, kLatest, expand},
    {kOnnx, "Flatten", 1, kLatest, flatten},
    {kOnnx, "Reshape", 1, kLatest, reshape},
    {kOnnx, "Shape", 1, kLatest, shape_of},
    {kOnnx, "Size", 1, kLatest, size},
    {kOnnx, "Squeeze", 1, kLatest, squeeze},
    {kOnnx, "Tile", 1, kLatest, tile},
    {kOnnx, "Unsqueeze", 1, kLatest, unsqueeze},
    {kMicrosoft, "ExpandDims", 1, kLatest, expand_dims},
};

}  // namespace

std::span<const Converter> shape_converters() {
  return kConverters;
}

}  // namespace concord::importer
