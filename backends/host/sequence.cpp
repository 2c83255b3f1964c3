#include "backends/host/elements.h"
#include "backends/host/host.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> items_of(const Call& call) {
  const auto items = call.input(0).items();
  return {items.begin(), items.end()};
}

// Operand `operand` as a position among `count`, where `past_end` allows the one behind the last;
// `otherwise` if it is omitted.
std::size_t position(const Call& call, std::size_t operand, std::size_t count, bool past_end,
                     std::int64_t otherwise) {
  const auto size = static_cast<std::int64_t>(count);
  std::int64_t given = otherwise;
  if (call.has(operand)) {
    if (call.input(operand).count() != 1) fail(call.name_of(operand) + " must be one position");
    given = call.input(operand).at_int(0);
  }
  const std::int64_t at = given < 0 ? given + size : given;
  if (at < 0 || at > size || (at == size && !past_end)) {
    if (is_optional(call.input(0).dtype())) fail("the optional " + call.name_of(0) + " is empty");
    fail("position " + std::to_string(given) + " is out of range for the " + std::to_string(count) +
         " items of " + call.name_of(0));
  }
  return static_cast<std::size_t>(at);
}

Tensor erased(const Call& call) {
  std::vector<Tensor> items = items_of(call);
  const std::size_t at = position(call, 1, items.size(), false, -1);
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  return Tensor::container(call.input(0).dtype(), std::move(items));
}

Tensor inserted(const Call& call) {
  std::vector<Tensor> items = items_of(call);
  const auto end = static_cast<std::int64_t>(items.size());
  const std::size_t at = position(call, 2, items.size(), true, end);
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), call.input(1));
  return Tensor::container(call.input(0).dtype(), std::move(items));
}

// The attribute axis, negative ones from the end, among `rank` axes.
std::size_t axis_among(const Call& call, std::int64_t rank) {
  const std::int64_t given = call.node.attrs.integer("axis");
  const std::int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    fail("axis " + std::to_string(given) + " does not exist among " + std::to_string(rank));
  }
  return static_cast<std::size_t>(axis);
}

// The items joined along an axis of theirs, or stacked along a new one.
Tensor joined(const Call& call) {
  std::vector<Tensor> items = items_of(call);
  if (items.empty()) fail(call.name_of(0) + " is an empty sequence, which cannot be joined");
  const bool stacks = call.node.attrs.integer("new_axis") != 0;
  const std::size_t axis = axis_among(call, items.front().rank() + (stacks ? 1 : 0));
  graph::Node concat;
  concat.op = graph::OpKind::concat;
  concat.attrs = {{"axis", static_cast<std::int64_t>(axis)}};
  if (stacks) {
    for (Tensor& item : items) {
      Shape shape = item.shape();
      if (axis > shape.size()) fail("an item of " + call.name_of(0) + " has another rank");
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
      item = item.reshaped(std::move(shape));
    }
  }
  return run(call.graph, concat, items, call.bindings).front();
}

std::vector<std::int64_t> part_sizes(const Call& call, std::int64_t extent) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (call.has(1) && call.input(1).rank() != 0) return call.input(1).ints();
  const std::int64_t size = call.has(1) ? call.input(1).at_int(0) : 1;
  if (size < 1 || extent / size > kMost) {
    fail("parts of " + std::to_string(size) + " of " + std::to_string(extent) + " elements");
  }
  std::vector<std::int64_t> sizes;
  for (std::int64_t begin = 0; begin < extent; begin += size) {
    sizes.push_back(std::min(size, extent - begin));
  }
  return sizes;
}

Tensor divided(const Call& call) {
  const Tensor& x = call.input(0);
  const std::size_t axis = axis_among(call, x.rank());
  const std::vector<std::int64_t> sizes = part_sizes(call, x.shape()[axis]);
  graph::Node split;
  split.op = graph::OpKind::split;
  split.attrs = {{"axis", static_cast<std::int64_t>(axis)}};
  split.outputs.resize(sizes.size());
  const std::vector<Tensor> operands{x, Tensor::from_ints(sizes)};
  std::vector<Tensor> parts = run(call.graph, split, operands, call.bindings);
  if (!call.has(1) && call.node.attrs.integer("keepdims") == 0) {
    Shape shape = x.shape();
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    for (Tensor& part : parts) part = part.reshaped(shape);
  }
  return Tensor::container(sequence_of(x.dtype()), std::move(parts));
}

std::vector<Tensor> run_sequence(const Call& call) {
  const std::string& fn = call.node.attrs.text("fn");
  if (fn == "make") {
    return {
        Tensor::container(call.node.attrs.dtype("to"), {call.inputs.begin(), call.inputs.end()})};
  }
  if (fn == "split") return {divided(call)};
  if (fn == "insert") return {inserted(call)};
  if (fn == "erase") return {erased(call)};
  if (fn == "concat") return {joined(call)};
  const auto items = call.input(0).items();
  return {items[position(call, 1, items.size(), false, 0)]};
}

}  // namespace

const Kernel host_sequence{nullptr, run_sequence};

}  // namespace concord::host
