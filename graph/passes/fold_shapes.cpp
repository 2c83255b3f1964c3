#include <algorithm>
#include <cstring>

#include "graph/passes/list.h"
#include "graph/passes/rewriter.h"

namespace concord::graph {
namespace {

bool all_known(const std::vector<Dim>& contents) {
  return std::all_of(contents.begin(), contents.end(),
                     [](const Dim& d) { return d.is_constant(); });
}

std::optional<Shape> static_extents(const Value& value) {
  if (!value.shape) return std::nullopt;
  Shape shape;
  for (const Dim& d : *value.shape) {
    if (!d.is_constant()) return std::nullopt;
    shape.push_back(*d.constant());
  }
  return shape;
}

std::optional<Tensor> as_tensor(const Value& value, const Shape& shape) {
  if (is_sub_byte(value.dtype) || !all_known(*value.contents)) return std::nullopt;
  Tensor t(value.dtype, shape);
  const auto width = static_cast<std::size_t>(bits(value.dtype) / 8);
  std::byte* to = t.mutable_data();
  for (std::size_t i = 0; i < value.contents->size(); ++i) {
    const std::int64_t v = *(*value.contents)[i].constant();
    if (!is_float(value.dtype)) {
      std::memcpy(to + i * width, &v, width);  // little endian, as the files are
      continue;
    }
    if (v == 0) return std::nullopt;  // may be a negative one
    const std::uint64_t raw = float_to_bits(value.dtype, static_cast<double>(v));
    std::memcpy(to + i * width, &raw, width);
  }
  return t;
}

bool computes_only_shapes(const Rewriter& rw, const Node& node) {
  if (node.op == OpKind::dims || !node.bodies.empty()) return false;
  for (const ValueId output : node.outputs) {
    if (!output.valid() || rw.uses(output) == 0) continue;
    const Value& value = rw.value(output);
    if (!value.contents || !static_extents(value)) return false;
  }
  return true;
}

}  // namespace

int fold_shapes(Graph& graph, const PassOptions&) {
  Rewriter rw(graph);
  // From the back: what feeds only shape arithmetic is gone before it is looked at.
  for (auto it = rw.order().rbegin(); it != rw.order().rend(); ++it) {
    if (rw.node(*it).removed || !computes_only_shapes(rw, rw.node(*it))) continue;
    const std::vector<ValueId> outputs = rw.node(*it).outputs;
    for (const ValueId output : outputs) {
      if (!output.valid() || rw.node(*it).removed || rw.uses(output) == 0) continue;
      const Value& value = rw.value(output);
      const Shape shape = *static_extents(value);
      if (auto tensor = as_tensor(value, shape)) {
        rw.make_constant(output, std::move(*tensor));
        continue;
      }
      if (all_known(*value.contents) || outputs.size() > 1)
        continue;  // symbolic pieces of a split stay with it
      Node node;
      node.op = OpKind::dims;
      node.attrs.set("values", SymShape(*value.contents));
      node.attrs.set("shape", shape);
      node.attrs.set("to", value.dtype);
      rw.replace(*it, std::move(node), {});
    }
    rw.remove_if_unused(*it);
  }
  return rw.changes();
}

}  // namespace concord::graph
