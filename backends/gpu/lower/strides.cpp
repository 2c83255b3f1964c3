#include "backends/gpu/lower/strides.h"

#include <algorithm>
#include <limits>
#include <string>

#include "graph/error.h"

namespace concord::gpu {

std::int32_t to_i32(std::int64_t count) {
  if (count < 0 || count > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorKind::unsupported,
                "a tensor of " + std::to_string(count) +
                    " elements is larger than the 2^31 that GPU kernels count to",
                "use a smaller batch or sequence, or the cpu backend");
  }
  return static_cast<std::int32_t>(count);
}

namespace {

std::int32_t stride_i32(std::int64_t stride) {
  return stride < 0 ? -to_i32(-stride) : to_i32(stride);
}

}  // namespace

Walk make_walk(const Shape& extents, std::span<const Shape> strides, std::size_t max_axes) {
  Walk walk;
  walk.count = to_i32(element_count(extents));
  std::vector<std::size_t> kept;  // axes of more than one element
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] != 1) kept.push_back(axis);
  }
  // Joined axes, outermost first.
  Shape joined;
  std::vector<Shape> joined_strides(strides.size());
  for (const std::size_t axis : kept) {
    bool joins = !joined.empty();
    for (std::size_t i = 0; i < strides.size() && joins; ++i) {
      joins = joined_strides[i].back() == strides[i][axis] * extents[axis];
    }
    if (joins) {
      joined.back() *= extents[axis];
    } else {
      joined.push_back(extents[axis]);
      for (Shape& one : joined_strides) one.push_back(0);
    }
    for (std::size_t i = 0; i < strides.size(); ++i) joined_strides[i].back() = strides[i][axis];
  }
  if (joined.size() > max_axes) {
    throw Error(ErrorKind::unsupported,
                "an operand with " + std::to_string(joined.size()) +
                    " axes that cannot be joined; GPU kernels walk " + std::to_string(max_axes),
                "use the cpu backend");
  }
  walk.rank = static_cast<std::int32_t>(joined.size());
  const std::size_t front = kMaxAxes - joined.size();
  for (std::size_t i = 0; i < joined.size(); ++i) walk.extents[front + i] = to_i32(joined[i]);
  for (const Shape& one : joined_strides) {
    Axes axes{};
    for (std::size_t i = 0; i < one.size(); ++i) axes[front + i] = stride_i32(one[i]);
    walk.strides.push_back(axes);
  }
  return walk;
}

Shape broadcast_strides(const Shape& shape, const Shape& target) {
  const Shape own = contiguous_strides(shape);
  Shape strides(target.size(), 0);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = target.size() - shape.size() + i;
    strides[axis] = shape[i] == 1 ? 0 : own[i];
  }
  return strides;
}

std::optional<std::int32_t> period(const Shape& shape, const Shape& target) {
  std::int64_t count = 1;
  bool leading = false;  // an axis was broadcast: those before it must be too
  for (std::size_t back = 1; back <= target.size(); ++back) {
    const std::int64_t extent = back <= shape.size() ? shape[shape.size() - back] : 1;
    const std::int64_t wanted = target[target.size() - back];
    if (extent == wanted && wanted != 1) {
      if (leading) return std::nullopt;
      count *= extent;
    } else if (wanted != 1) {
      leading = true;
    }
  }
  return to_i32(count);
}

std::array<std::uint32_t, 3> flat_groups(std::int64_t elements, std::int64_t per_group) {
  constexpr std::int64_t kGroupsPerRow = 32768;  // lib/indexing.slang
  const std::int64_t groups = (elements + per_group - 1) / per_group;
  if (groups <= kGroupsPerRow) return {static_cast<std::uint32_t>(groups), 1, 1};
  const std::int64_t rows = (groups + kGroupsPerRow - 1) / kGroupsPerRow;
  return {static_cast<std::uint32_t>(kGroupsPerRow), static_cast<std::uint32_t>(rows), 1};
}

}  // namespace concord::gpu
