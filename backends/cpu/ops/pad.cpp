#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (node.attrs.has("pads") && element_bytes(output_dtype(graph, node)) != 0) return std::nullopt;
  return why_not_host(graph, node);
}

PadMode mode_of(const std::string& text) {
  if (text == "reflect") return PadMode::reflect;
  if (text == "edge") return PadMode::edge;
  if (text == "wrap") return PadMode::wrap;
  return PadMode::constant;
}

// A state whose beginning is there: zeros behind it.
void plan_in_state(Planner& p, const View& state) {
  const Dims before = p.shape(0);
  p.kernel("append");
  View behind = state;
  for (int axis = 0; axis < before.rank(); ++axis) {
    if (state.shape[axis] == before[axis]) continue;
    const std::int64_t size = static_cast<std::int64_t>(element_bytes(state.dtype));
    behind.at = behind.at.plus(before[axis] * state.strides[axis] * size);
    behind.shape[axis] -= before[axis];
  }
  if (state.shape == before || behind.shape.count() <= 0) return;
  p.bytes(static_cast<double>(behind.bytes()));
  p.emit([behind, size = element_bytes(state.dtype)](const Frame& f) {
    const std::uint64_t zeros[2] = {0, 0};
    copy_strided(size, behind.shape, zeros, Dims::filled(behind.shape.rank(), 0), f.at(behind.at),
                 behind.strides);
  });
}

PlanFn prepare(Compiler& c) {
  if (!c.attrs().has("pads") || element_bytes(c.out_value().dtype) == 0) return prepare_host(c);
  return [pads = c.dims("pads"), mode = mode_of(c.attrs().text("mode", "constant"))](Planner& p) {
    if (const auto state = p.out_state()) return plan_in_state(p, *state);
    const Dims shape = p.shape(0);
    Dims before, after;
    for (int i = 0; i < shape.rank(); ++i) {
      before.push_back(p.value(pads[static_cast<std::size_t>(i)]));
      after.push_back(
          p.value(pads[static_cast<std::size_t>(shape.rank()) + static_cast<std::size_t>(i)]));
    }
    const Ref x = p.in(0);
    const Ref value = p.in(2);
    const std::size_t size = element_bytes(p.out_dtype());
    const Ref y = p.out();
    p.emit("pad", 0, [=](const Frame& f) {
      const std::uint64_t zeros[2] = {0, 0};
      const void* element = value ? static_cast<const void*>(f.at(value)) : zeros;
      pad(size, shape, f.at(x), before, after, mode, element, f.at(y));
    });
  };
}

}  // namespace

const Lowering cpu_pad{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
