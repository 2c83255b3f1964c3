#include "importer/converter_table.h"

namespace concord::importer {
namespace {

void gather(Conversion& c) {
  const ValueId x = c.input(0);
  c.output(0, c.gather(x, c.input(1), c.axis_of(c.integer("axis", 0), x)));
}

void gather_elements(Conversion& c) {
  const ValueId x = c.input(0);
  c.output(0, c.emit(OpKind::gather_elements, {x, c.input(1)},
                     {{"axis", c.axis_of(c.integer("axis", 0), x)}}));
}

void gather_nd(Conversion& c) {
  c.output(0, c.emit(OpKind::gather_nd, {c.input(0), c.input(1)},
                     {{"batch_dims", c.integer("batch_dims", 0)}}));
}

std::string reduction(Conversion& c) {
  std::string name = c.text("reduction", "none");
  if (name != "none" && name != "add" && name != "mul" && name != "max" && name != "min") {
    c.invalid("attribute 'reduction' is '" + name + "', expected none, add, mul, max or min");
  }
  return name;
}

void scatter_elements(Conversion& c) {
  const ValueId x = c.input(0);
  c.output(0, c.emit(OpKind::scatter_elements, {x, c.input(1), c.input(2)},
                     {{"axis", c.axis_of(c.integer("axis", 0), x)}, {"reduction", reduction(c)}}));
}

void scatter_nd(Conversion& c) {
  c.output(0, c.emit(OpKind::scatter_nd, {c.input(0), c.input(1), c.input(2)},
                     {{"reduction", reduction(c)}}));
}

// Writes update [B, …, S, …] into the cache [B, …, T, …] from write_indices [B] on; circular mode
// wraps around T.
void tensor_scatter(Conversion& c) {
  const ValueId cache = c.input(0);
  const ValueId update = c.input(1);
  const SymShape shape = c.known_shape(update);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = c.axis(c.integer("axis", -2), rank);
  const std::string mode = c.text("mode", "linear");
  if (mode != "linear" && mode != "circular") c.invalid("attribute 'mode' is '" + mode + "'");
  const auto along = [&](ValueId vector, std::int64_t at) {
    SymShape spread(static_cast<std::size_t>(rank), Dim(1));
    spread[static_cast<std::size_t>(at)] = c.known_shape(vector).front();
    return c.reshape(vector, std::move(spread));
  };
  ValueId at = along(c.iota(shape[static_cast<std::size_t>(axis)]), axis);
  if (c.has_input(2)) {
    if (axis == 0) c.invalid("attribute 'axis' is the batch axis");
    at = c.binary(BinaryFn::add, at, along(c.cast(c.input(2), DataType::i64), 0));
  }
  if (mode == "circular") {
    const ValueId length = c.reduce(
        ReduceFn::prod, c.emit(OpKind::shape_of, {cache}, {{"start", axis}, {"end", axis + 1}}),
        {0}, false);
    at = c.binary(BinaryFn::mod, at, length);
  }
  c.output(0, c.emit(OpKind::scatter_elements, {cache, c.broadcast(at, shape), update},
                     {{"axis", axis}, {"reduction", std::string("none")}}));
}

constexpr Converter kConverters[] = {
    {kOnnx, "Gather", 1, kLatest, gather},
    {kOnnx, "GatherElements", 11, kLatest, gather_elements},
    {kOnnx, "GatherND", 11, kLatest, gather_nd},
    {kOnnx, "Scatter", 9, kLatest, scatter_elements},
    {kOnnx, "ScatterElements", 11, kLatest, scatter_elements},
    {kOnnx, "ScatterND", 11, kLatest, scatter_nd},
    {kOnnx, "TensorScatter", 24, kLatest, tensor_scatter},
    {kMicrosoft, "GatherND", 1, kLatest, gather_nd},
};

}  // namespace

std::span<const Converter> gather_converters() {
  return kConverters;
}

}  // namespace concord::importer
