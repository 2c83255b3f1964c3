#include <algorithm>

#include "backends/gpu/lowering.h"

namespace concord::gpu {

const Lowering gpu_shape_of{
    [](const Query&) -> std::optional<std::string> { return std::nullopt; },
    [](NodeLowering& node) {
      const Shape shape = node.in_shape(0);
      const auto rank = static_cast<std::int64_t>(shape.size());
      const std::int64_t start = node.attrs().integer("start", 0);
      const auto first = static_cast<std::size_t>(
          std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank));
      const auto count = static_cast<std::size_t>(element_count(node.out_shape()));
      const std::span<const std::int64_t> part = std::span(shape).subspan(first, count);
      node.alias(0, node.plan_constant(Tensor::from_ints(part)));
    }};

}  // namespace concord::gpu
