#pragma once

// Windows of convolutions and pooling as kernels take them: three spatial axes, the missing ones in
// front with extents of 1.

#include <cstdint>
#include <string>

#include "backends/gpu/kernels/window.h"
#include "backends/gpu/lowering.h"
#include "graph/geometry.h"

namespace concord::gpu {

constexpr std::int64_t kMaxSpatialAxes = 3;  // that window kernels walk

// `shape` with axes of `filling` in front.
std::array<std::int32_t, kMaxSpatialAxes> spatial(const Shape& shape, std::int32_t filling);

// Extents, strides and pads of a convolution, transposed or not, without its operands.
kernels::WindowParams conv_params(const graph::ConvGeometry& geometry);

// What must run before a kernel of windows: its rank and types.
std::optional<std::string> why_no_windows(const Query& query, const std::string& kernel);

}  // namespace concord::gpu
