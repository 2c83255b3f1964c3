#include <algorithm>

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/part.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  return why_no_move(query);
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Shape starts = node.dims("starts");
  const auto& axes = node.attrs().integers("axes");
  const auto& steps = node.attrs().integers("steps");
  Shape strides = contiguous_strides(x.shape);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const std::int64_t extent = x.shape[axis];
    const std::int64_t first = starts[i] < 0 ? starts[i] + extent : starts[i];
    const std::int64_t last_start = steps[i] < 0 ? extent - 1 : extent;
    offset +=
        std::clamp<std::int64_t>(first, 0, std::max<std::int64_t>(last_start, 0)) * strides[axis];
    strides[axis] *= steps[i];
  }
  take_part(node, 0, x, offset, strides);
}

}  // namespace

const Lowering gpu_slice{why, lower};

}  // namespace concord::gpu
