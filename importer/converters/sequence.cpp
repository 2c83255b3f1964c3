// A sequence whose items are known is a list of values and costs nothing: what exporters make of
// chunk, split and stack. Any other is a value of the graph, and its operators are nodes.
#include <algorithm>

#include "importer/converter_table.h"

namespace concord::importer {
namespace {

ValueId emit_sequence(Conversion& c, const char* fn, std::vector<ValueId> operands,
                      Attributes attrs = {}) {
  attrs.set("fn", std::string(fn));
  return c.emit(OpKind::sequence, std::move(operands), std::move(attrs));
}

// The list of input 0 and a position among its items, if both are known. `past_end` allows the one
// behind the last; a missing position is the last such.
struct KnownPlace {
  const std::vector<ValueId>* items = nullptr;
  std::size_t at = 0;
};

std::optional<KnownPlace> known_place(Conversion& c, std::size_t input, bool past_end) {
  const auto* items = c.sequence_input(0);
  if (items == nullptr) return std::nullopt;
  const auto size = static_cast<std::int64_t>(items->size());
  std::int64_t given = past_end ? size : size - 1;
  if (c.has_input(input)) {
    const auto known = c.known_integers(c.input(input));
    if (!known || known->size() != 1) return std::nullopt;
    given = known->front();
  }
  const std::int64_t at = given < 0 ? given + size : given;
  if (at < 0 || at > size || (at == size && !past_end)) {
    c.invalid("position " + std::to_string(given) + " is out of range for " +
              std::to_string(items->size()) + " items");
  }
  return KnownPlace{items, static_cast<std::size_t>(at)};
}

void construct(Conversion& c) {
  c.output_sequence(0, c.inputs());
}

void empty(Conversion& c) {
  c.output_sequence(0, {}, static_cast<DataType>(c.integer("dtype", 1)));
}

void at(Conversion& c) {
  if (const auto place = known_place(c, 1, false)) return c.output(0, (*place->items)[place->at]);
  c.output(0, emit_sequence(c, "at", {c.materialised(0), c.input(1)}));
}

// The extent of a container, as a scalar.
ValueId length_of(Conversion& c, ValueId container) {
  const ValueId extents =
      c.emit(OpKind::shape_of, {container}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  return c.reshape(extents, {});
}

void length(Conversion& c) {
  if (const auto* items = c.sequence_input(0)) {
    const auto count = static_cast<std::int64_t>(items->size());
    return c.output(0, c.make_constant(Tensor::scalar(count)));
  }
  c.output(0, length_of(c, c.input(0)));
}

void insert(Conversion& c) {
  if (const auto place = known_place(c, 2, true)) {
    std::vector<ValueId> items = *place->items;
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(place->at), c.input(1));
    return c.output_sequence(0, std::move(items));
  }
  c.output(0, emit_sequence(c, "insert", {c.materialised(0), c.input(1), c.optional_input(2)}));
}

void erase(Conversion& c) {
  if (const auto* items = c.sequence_input(0); items != nullptr && items->empty()) {
    c.invalid("the sequence is empty");
  }
  if (const auto place = known_place(c, 1, false)) {
    std::vector<ValueId> items = *place->items;
    const DataType item = c.dtype(items.front());
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(place->at));
    return c.output_sequence(0, std::move(items), item);
  }
  c.output(0, emit_sequence(c, "erase", {c.materialised(0), c.optional_input(1)}));
}

void concat(Conversion& c) {
  const std::int64_t axis = c.integer("axis");
  const bool stacks = c.flag("new_axis");
  const auto* items = c.sequence_input(0);
  if (items == nullptr || items->empty()) {
    return c.output(0, emit_sequence(c, "concat", {c.materialised(0)},
                                     {{"axis", axis}, {"new_axis", std::int64_t{stacks ? 1 : 0}}}));
  }
  if (!stacks) return c.output(0, c.concat(*items, c.axis_of(axis, items->front())));
  const std::int64_t at = c.axis(axis, c.known_rank(items->front()) + 1);
  std::vector<ValueId> parts;
  for (const ValueId item : *items) parts.push_back(c.unsqueeze(item, {at}));
  c.output(0, c.concat(parts, at));
}

// Sizes of the parts, if they are known.
std::optional<std::vector<std::int64_t>> known_sizes(Conversion& c, const Dim& dim) {
  constexpr std::int64_t kMost = 4096;
  if (c.has_input(1) && c.rank(c.input(1)) != 0) return c.known_integers(c.input(1));
  const auto extent = dim.constant();
  std::optional<std::vector<std::int64_t>> chunk{{1}};
  if (c.has_input(1)) chunk = c.known_integers(c.input(1));
  if (!extent || !chunk || chunk->size() != 1) return std::nullopt;
  if (chunk->front() < 1) c.invalid("parts of " + std::to_string(chunk->front()) + " elements");
  if (*extent / chunk->front() > kMost) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (std::int64_t begin = 0; begin < *extent; begin += chunk->front()) {
    sizes.push_back(std::min(chunk->front(), *extent - begin));
  }
  return sizes;
}

void split(Conversion& c) {
  const ValueId x = c.input(0);
  const std::int64_t given = c.integer("axis", 0);
  const bool keeps = c.flag("keepdims", true);
  std::optional<std::vector<std::int64_t>> sizes;
  if (c.shape(x)) {
    sizes = known_sizes(c, (*c.shape(x))[static_cast<std::size_t>(c.axis_of(given, x))]);
  }
  if (!sizes) {
    return c.output(0, emit_sequence(c, "split", {x, c.optional_input(1)},
                                     {{"axis", given}, {"keepdims", std::int64_t{keeps ? 1 : 0}}}));
  }
  if (sizes->empty()) return c.output_sequence(0, {}, c.dtype(x));
  const std::int64_t axis = c.axis_of(given, x);
  std::vector<ValueId> parts =
      c.emit_many(OpKind::split, {x, c.make_integers(*sizes)}, {{"axis", axis}},
                  std::vector<bool>(sizes->size(), true));
  if (!c.has_input(1) && !keeps) {
    SymShape squeezed = c.known_shape(x);
    squeezed.erase(squeezed.begin() + static_cast<std::ptrdiff_t>(axis));
    for (ValueId& part : parts) part = c.reshape(part, squeezed);
  }
  c.output_sequence(0, std::move(parts));
}

// An optional that is known to hold something is what it holds, until it must be a value.
void make_optional(Conversion& c) {
  const DataType type = c.type("type");
  if (const auto* items = c.sequence_input(0)) {
    return c.output_sequence(0, *items, item_type(type));
  }
  if (c.has_input(0)) return c.output(0, c.input(0));
  if (type == DataType::undefined) c.invalid("an empty optional needs the attribute 'type'");
  c.output(0, emit_sequence(c, "make", {}, {{"to", optional_of(type)}}));
}

void get_element(Conversion& c) {
  if (const auto* items = c.sequence_input(0)) return c.output_sequence(0, *items);
  const ValueId x = c.input(0);
  c.output(0, is_optional(c.dtype(x)) ? emit_sequence(c, "at", {x}) : x);
}

void has_element(Conversion& c) {
  if (c.has_input(0) && is_optional(c.dtype(c.input(0)))) {
    return c.output(0, c.cast(length_of(c, c.input(0)), DataType::boolean));
  }
  const bool has = c.has_input(0) || c.sequence_input(0) != nullptr;
  Tensor result = Tensor::zeros(DataType::boolean, {});
  result.mutable_data()[0] = static_cast<std::byte>(has ? 1 : 0);
  c.output(0, c.make_constant(std::move(result)));
}

constexpr Converter kConverters[] = {
    {kOnnx, "ConcatFromSequence", 11, kLatest, concat},
    {kOnnx, "Optional", 15, kLatest, make_optional},
    {kOnnx, "OptionalGetElement", 15, kLatest, get_element},
    {kOnnx, "OptionalHasElement", 15, kLatest, has_element},
    {kOnnx, "SequenceAt", 11, kLatest, at},
    {kOnnx, "SequenceConstruct", 11, kLatest, construct},
    {kOnnx, "SequenceEmpty", 11, kLatest, empty},
    {kOnnx, "SequenceErase", 11, kLatest, erase},
    {kOnnx, "SequenceInsert", 11, kLatest, insert},
    {kOnnx, "SequenceLength", 11, kLatest, length},
    {kOnnx, "SplitToSequence", 11, kLatest, split},
};

}  // namespace

std::span<const Converter> sequence_converters() {
  return kConverters;
}

}  // namespace concord::importer
