#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/quantise.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (input_dtype(graph, node, 0) != DataType::f32) return type_reason(input_dtype(graph, node, 0));
  return std::nullopt;
}

// scale = (max(x, 0) − min(x, 0)) / 255, zero = clamp(round(−min / scale)). Zeros alone need no
// scale: it is 1 then, as onnxruntime has it.
void quantise(const float* x, std::int64_t count, std::byte* y, float* scale, std::uint8_t* zero) {
  const auto [low, high] = extremes(x, count);
  const float step = (high - low) / 255.0f;
  const float origin =
      step == 0 ? 0.0f : std::nearbyint(std::clamp(0.0f - low / step, 0.0f, 255.0f));
  *scale = step == 0 ? 1.0f : step;
  *zero = static_cast<std::uint8_t>(origin);
  if (step == 0) {
    std::fill_n(y, count, std::byte{0});
    return;
  }
  quantise_bytes(x, count, step, static_cast<std::int32_t>(origin), false, y);
}

PlanFn prepare(Compiler&) {
  return [](Planner& p) {
    const std::int64_t count = p.shape(0).count();
    const Ref x = p.in(0);
    const Ref y = p.out(0);
    const Ref scale = p.has_output(1) ? p.out(1) : p.scratch(4);
    const Ref zero = p.has_output(2) ? p.out(2) : p.scratch(1);
    p.emit("dynamic_quantize", 4.0 * static_cast<double>(count), [=](const Frame& f) {
      quantise(f.at<const float>(x), count, f.at(y), f.at<float>(scale), f.at<std::uint8_t>(zero));
    });
  };
}

}  // namespace

const Lowering cpu_dynamic_quantize{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
