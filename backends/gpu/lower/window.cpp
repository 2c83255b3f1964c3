#include "backends/gpu/lower/window.h"

#include <algorithm>

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {

std::array<std::int32_t, kMaxSpatialAxes> spatial(const Shape& shape, std::int32_t filling) {
  std::array<std::int32_t, kMaxSpatialAxes> all{filling, filling, filling};
  const std::size_t front = all.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    all[front + i] = static_cast<std::int32_t>(shape[i]);
  }
  return all;
}

kernels::WindowParams conv_params(const graph::ConvGeometry& geometry) {
  using Params = kernels::WindowParams;
  const graph::Window& window = geometry.window;
  Params params;
  params.n = to_i32(element_count(geometry.output));
  params.group_in = to_i32(geometry.in_channels / geometry.group);
  params.group_out = to_i32(geometry.out_channels / geometry.group);
  params.groups = to_i32(geometry.group);
  set_ints(params, &Params::in_d, spatial(window.input, 1));
  set_ints(params, &Params::out_d, spatial(window.output, 1));
  set_ints(params, &Params::kernel_d, spatial(window.kernel, 1));
  set_ints(params, &Params::stride_d, spatial(window.strides, 1));
  set_ints(params, &Params::dilation_d, spatial(window.dilations, 1));
  set_ints(params, &Params::pad_d, spatial(window.pads_begin, 0));
  return params;
}

std::optional<std::string> why_no_windows(const Query& query, const std::string& kernel) {
  if (query.in_rank(0) > 2 + kMaxSpatialAxes) return "more than three spatial axes";
  if (query.in(0) == DataType::undefined) return std::nullopt;
  return query.need_kernel(kernel + type_suffix(query.in(0)));
}

}  // namespace concord::gpu
