// Sequences exist only at import: lists of values whose number is known. That covers what exporters
// make of chunk, split and stack; a sequence of unknown length is not supported.
#include <algorithm>

#include "importer/converter_table.h"

namespace concord::importer {
namespace {

const std::vector<ValueId>& items_of(Conversion& c) {
  const auto* items = c.sequence_input(0);
  if (items == nullptr) c.invalid("input 0 is no sequence");
  return *items;
}

// A position among `count`, where `past_end` allows the one behind the last.
std::size_t position(Conversion& c, std::size_t input, std::size_t count, bool past_end) {
  const auto given = c.known_integers(c.input(input));
  if (!given || given->size() != 1) c.unsupported("a position that is known only when running");
  const auto size = static_cast<std::int64_t>(count);
  const std::int64_t at = given->front() < 0 ? given->front() + size : given->front();
  if (at < 0 || at > size || (at == size && !past_end)) {
    c.invalid("position " + std::to_string(given->front()) + " is out of range for " +
              std::to_string(count) + " items");
  }
  return static_cast<std::size_t>(at);
}

void construct(Conversion& c) {
  c.output_sequence(0, c.inputs());
}

void empty(Conversion& c) {
  c.ignore({"dtype"});
  c.output_sequence(0, {});
}

void at(Conversion& c) {
  const auto& items = items_of(c);
  c.output(0, items[position(c, 1, items.size(), false)]);
}

void length(Conversion& c) {
  c.output(0, c.make_constant(Tensor::scalar(static_cast<std::int64_t>(items_of(c).size()))));
}

void insert(Conversion& c) {
  std::vector<ValueId> items = items_of(c);
  const std::size_t where = c.has_input(2) ? position(c, 2, items.size(), true) : items.size();
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(where), c.input(1));
  c.output_sequence(0, std::move(items));
}

void erase(Conversion& c) {
  std::vector<ValueId> items = items_of(c);
  if (items.empty()) c.invalid("the sequence is empty");
  const std::size_t where = c.has_input(1) ? position(c, 1, items.size(), false) : items.size() - 1;
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(where));
  c.output_sequence(0, std::move(items));
}

void concat(Conversion& c) {
  const std::vector<ValueId>& items = items_of(c);
  if (items.empty()) c.unsupported("an empty sequence");
  const std::int64_t axis = c.integer("axis");
  if (!c.flag("new_axis")) return c.output(0, c.concat(items, c.axis_of(axis, items.front())));
  const std::int64_t at = c.axis(axis, c.known_rank(items.front()) + 1);
  std::vector<ValueId> parts;
  for (const ValueId item : items) parts.push_back(c.unsqueeze(item, {at}));
  c.output(0, c.concat(parts, at));
}

void split(Conversion& c) {
  const ValueId x = c.input(0);
  const SymShape shape = c.known_shape(x);
  const auto axis = static_cast<std::size_t>(
      c.axis(c.integer("axis", 0), static_cast<std::int64_t>(shape.size())));
  const auto extent = shape[axis].constant();
  std::vector<std::int64_t> sizes;
  if (c.has_input(1) && c.rank(c.input(1)) != 0) {
    const auto known = c.known_integers(c.input(1));
    if (!known) c.unsupported("sizes that are known only when running");
    sizes = *known;
  } else {
    std::optional<std::vector<std::int64_t>> chunk{{1}};
    if (c.has_input(1)) chunk = c.known_integers(c.input(1));
    if (!extent || !chunk) c.unsupported("a number of parts that is known only when running");
    if (chunk->front() < 1 || *extent / chunk->front() > 4096) {
      c.invalid("parts of " + std::to_string(chunk->front()) + " elements");
    }
    for (std::int64_t begin = 0; begin < *extent; begin += chunk->front()) {
      sizes.push_back(std::min(chunk->front(), *extent - begin));
    }
  }
  if (sizes.empty()) return c.output_sequence(0, {});
  std::vector<ValueId> parts = c.emit_many(OpKind::split, {x, c.make_integers(sizes)},
                                           {{"axis", static_cast<std::int64_t>(axis)}},
                                           std::vector<bool>(sizes.size(), true));
  if (!c.has_input(1) && !c.flag("keepdims", true)) {
    for (ValueId& part : parts) {
      SymShape squeezed = shape;
      squeezed.erase(squeezed.begin() + static_cast<std::ptrdiff_t>(axis));
      part = c.reshape(part, std::move(squeezed));
    }
  }
  c.output_sequence(0, std::move(parts));
}

// Optionals that are known to hold something are what they hold.
void unwrap(Conversion& c) {
  c.ignore({"type"});
  if (const auto* items = c.sequence_input(0)) return c.output_sequence(0, *items);
  if (!c.has_input(0)) c.unsupported("an empty optional");
  c.output(0, c.input(0));
}

void has_element(Conversion& c) {
  const bool has = c.has_input(0) || c.sequence_input(0) != nullptr;
  Tensor result = Tensor::zeros(DataType::boolean, {});
  result.mutable_data()[0] = static_cast<std::byte>(has ? 1 : 0);
  c.output(0, c.make_constant(std::move(result)));
}

constexpr Converter kConverters[] = {
    {kOnnx, "ConcatFromSequence", 11, kLatest, concat},
    {kOnnx, "Optional", 15, kLatest, unwrap},
    {kOnnx, "OptionalGetElement", 15, kLatest, unwrap},
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
