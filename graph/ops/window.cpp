#include <algorithm>

#include "graph/ops/inference.h"

namespace concord::graph {

Dim window_extent(const Dim& size, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                  std::int64_t pad_begin, std::int64_t pad_end, std::string_view auto_pad) {
  if (auto_pad == "same_upper" || auto_pad == "same_lower") return Dim::ceil_div(size, stride);
  const Dim effective = Dim(kernel - 1) * Dim(dilation) + Dim(1);
  return Dim::floor_div(size + Dim(pad_begin) + Dim(pad_end) - effective, stride) + Dim(1);
}

void canonical_window(Inference& in, std::span<const std::int64_t> kernel) {
  const std::size_t n = kernel.size();
  Attributes& attrs = in.attrs();
  const auto list = [&](const std::string& name, std::size_t length, std::int64_t otherwise,
                        std::int64_t least) {
    if (!attrs.has(name) || attrs.integers(name).empty()) {
      attrs.set(name, std::vector<std::int64_t>(length, otherwise));
    }
    const auto& values = attrs.integers(name);
    if (values.size() != length) {
      mismatch(std::to_string(length) + " " + name,
               concord::to_string(std::span<const std::int64_t>(values)));
    }
    constexpr std::int64_t most = std::int64_t{1} << 31;
    for (const std::int64_t v : values) {
      if (v < least || v > most) {
        mismatch(name + " from " + std::to_string(least) + " up", std::to_string(v));
      }
    }
    return values;
  };
  for (const std::int64_t k : kernel) {
    if (k < 1 || k > (std::int64_t{1} << 31)) {
      mismatch("a window of positive extents", concord::to_string(kernel));
    }
  }
  const auto strides = list("strides", n, 1, 1);
  const auto dilations = list("dilations", n, 1, 1);
  list("pads", 2 * n, 0, std::numeric_limits<std::int32_t>::min());
  const std::string auto_pad = attrs.text("auto_pad", "notset");
  if (auto_pad == "valid") {
    attrs.set("pads", std::vector<std::int64_t>(2 * n, 0));
    attrs.set("auto_pad", std::string("notset"));
    return;
  }
  if (auto_pad != "same_upper" && auto_pad != "same_lower") {
    attrs.set("auto_pad", std::string("notset"));
    return;
  }
  if (in.node().op == OpKind::conv_transpose) return;
  std::vector<std::int64_t> pads(2 * n, 0);
  const auto& x = in.shape(0);
  for (std::size_t k = 0; k < n; ++k) {
    const std::int64_t effective = (kernel[k] - 1) * dilations[k] + 1;
    std::int64_t total = effective - 1;
    if (strides[k] != 1) {
      const auto size = x && x->size() == n + 2 ? (*x)[k + 2].constant() : std::nullopt;
      if (!size) return;  // decided when the size is known
      const std::int64_t outputs = (*size + strides[k] - 1) / strides[k];
      total = std::max<std::int64_t>(0, (outputs - 1) * strides[k] + effective - *size);
    }
    pads[k] = auto_pad == "same_upper" ? total / 2 : total - total / 2;
    pads[n + k] = total - pads[k];
  }
  attrs.set("pads", std::move(pads));
  attrs.set("auto_pad", std::string("notset"));
}

}  // namespace concord::graph
