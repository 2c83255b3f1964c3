#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/kernels/quantise.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/quantise_plan.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (!is_quantised(output_dtype(graph, node))) return type_reason(output_dtype(graph, node));
  // A scale may have another type than x; the quotient is made in f32.
  return why_not_float(graph, node, {0, 1});
}

struct Args {
  DataType to = DataType::u8;
  ScaleLayout layout;
  const float* x = nullptr;
  const float* scale = nullptr;
  const std::byte* zero = nullptr;
};

template <typename T>
void quantise_rows(const Args& a, T* y) {
  constexpr auto low = static_cast<float>(std::numeric_limits<T>::lowest());
  constexpr auto high = static_cast<float>(std::numeric_limits<T>::max());
  const ScaleLayout& l = a.layout;
  const T* zero = reinterpret_cast<const T*>(a.zero);
  if constexpr (sizeof(T) == 1) {
    if (l.single && a.scale[0] != 0) {
      return quantise_bytes(a.x, l.inner, a.scale[0], zero != nullptr ? zero[0] : 0,
                            std::is_signed_v<T>, reinterpret_cast<std::byte*>(y));
    }
  }
  const std::int64_t rows = l.single ? l.inner : l.outer * l.axis;
  const std::int64_t width = l.single ? 1 : l.inner;
  parallel_for(rows, 1 + 10000 / (1 + width), [&](std::int64_t begin, std::int64_t end) {
    const float single_scale = l.single ? a.scale[0] : 1.0f;
    const float single_zero = l.single && zero != nullptr ? static_cast<float>(zero[0]) : 0.0f;
    if (l.single) {
      for (std::int64_t i = begin; i < end; ++i) {
        const float q = std::nearbyint(a.x[i] / single_scale) + single_zero;
        y[i] = static_cast<T>(q >= low ? (q <= high ? q : high) : low);
      }
      return;
    }
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t i = 0; i < width; ++i) {
        const std::int64_t s = l.index(row / l.axis, row % l.axis, i);
        const float q = std::nearbyint(a.x[row * width + i] / a.scale[s]) +
                        (zero != nullptr ? static_cast<float>(zero[s]) : 0.0f);
        y[row * width + i] = static_cast<T>(q >= low ? (q <= high ? q : high) : low);
      }
    }
  });
}

void quantise(const Args& a, std::byte* y, bool saturate) {
  switch (a.to) {
    case DataType::u8:
      return quantise_rows(a, reinterpret_cast<std::uint8_t*>(y));
    case DataType::i8:
      return quantise_rows(a, reinterpret_cast<std::int8_t*>(y));
    case DataType::u16:
      return quantise_rows(a, reinterpret_cast<std::uint16_t*>(y));
    case DataType::i16:
      return quantise_rows(a, reinterpret_cast<std::int16_t*>(y));
    default:
      break;
  }
  const ScaleLayout& l = a.layout;
  const int width = bits(a.to);
  for (std::int64_t row = 0; row < l.outer * l.axis; ++row) {
    for (std::int64_t i = 0; i < l.inner; ++i) {
      const std::int64_t at = row * l.inner + i;
      const std::int64_t s = l.index(row / l.axis, row % l.axis, i);
      double q = static_cast<double>(a.x[at] / a.scale[s]);
      if (is_float(a.to)) {
        const std::uint64_t stored = float_to_bits(a.to, q, saturate);
        if (width == 8) {
          y[at] = static_cast<std::byte>(stored);
        } else {
          quantised_set(a.to, y, at, float_from_bits(a.to, stored));
        }
        continue;
      }
      q = std::nearbyint(q) + (a.zero != nullptr ? quantised_at(a.to, a.zero, s) : 0.0);
      quantised_set(a.to, y, at, q);
    }
  }
}

PlanFn prepare(Compiler& c) {
  return [axis = c.attrs().integer("axis"), block = c.attrs().integer("block_size", 0),
          saturate = c.attrs().integer("saturate", 1) != 0](Planner& p) {
    Args args;
    const Dims shape = p.shape(0);
    args.to = p.out_dtype();
    args.layout = scale_layout(shape, p.shape(1).count(), axis, block);
    const Ref scale = p.in_f32(1);
    const Ref zero = p.in(2);
    const bool whole = args.layout.single && element_bytes(args.to) != 0;
    const auto [x, y] = whole ? plan_same_layout(p) : SameLayout{p.in_f32(0), p.out()};
    p.emit("quantize", 3.0 * static_cast<double>(shape.count()),
           [args, saturate, x = x, y = y, scale, zero](const Frame& f) {
             Args now = args;
             now.x = f.at<const float>(x);
             now.scale = f.at<const float>(scale);
             now.zero = f.at(zero);
             quantise(now, f.at(y), saturate);
           });
  };
}

}  // namespace

const Lowering cpu_quantize{
    .why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
