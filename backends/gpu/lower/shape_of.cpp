#include <algorithm>

#include "backends/gpu/lowering.h"

namespace concord::gpu {

const Lowering gpu_shape_of{
    [](const Query&) -> std::optional<std::string> { return std::nullopt; },
    [](NodeLowering& node) {
      const Shape shape = node.in_shape(0);
      const auto count = static_cast<std::size_t>(element_count(node.out_shape()));
      const auto start = static_cast<std::size_t>(node.attrs().integer("start"));
      const std::span<const std::int64_t> part = std::span(shape).subspan(start, count);
      node.alias(0, node.plan_constant(Tensor::from_ints(part)));
    }};

}  // namespace concord::gpu
