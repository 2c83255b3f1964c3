#include <vector>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (node.attrs.has("repeats") && element_bytes(output_dtype(graph, node)) != 0) {
    return std::nullopt;
  }
  return why_not_host(graph, node);
}

// Every axis becomes two: the repetitions, which read the same memory, and the axis itself.
PlanFn prepare(Compiler& c) {
  if (!c.attrs().has("repeats") || element_bytes(c.out_value().dtype) == 0) return prepare_host(c);
  return [repeats = c.dims("repeats")](Planner& p) {
    const View x = p.view(0);
    const Dims strides = dense_strides(p.out_shape());
    std::vector<std::int64_t> shape, from, to;
    for (int i = 0; i < x.shape.rank(); ++i) {
      const std::int64_t times = p.value(repeats[static_cast<std::size_t>(i)]);
      if (times != 1) {
        shape.push_back(times);
        from.push_back(0);
        to.push_back(x.shape[i] * strides[i]);
      }
      shape.push_back(x.shape[i]);
      from.push_back(x.strides[i]);
      to.push_back(strides[i]);
    }
    const Ref y = p.out();
    p.emit("tile", 0,
           [shape, from, to, x = x.at, y, size = element_bytes(p.out_dtype())](const Frame& f) {
             copy_strided(size, shape, f.at(x), from, f.at(y), to);
           });
  };
}

}  // namespace

const Lowering cpu_tile{.why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
