#pragma once

#include <cstdint>
#include <vector>

#include "graph/attributes.h"

namespace concord::gpu {

// An axis that is resized: its extents, the scale (output / input) and, for
// coordinates = tf_crop_and_resize, the region.
struct ResizeAxis {
  std::int64_t input = 0;
  std::int64_t output = 0;
  double scale = 1;
  double roi_begin = 0;
  double roi_end = 1;
};

// What each result of an axis is a sum of: `taps` elements and their weights. An index of −1 in
// the first tap stands for the extrapolation value.
struct ResizeTable {
  std::int64_t taps = 1;
  std::vector<std::int32_t> indices;  // [output, taps]
  std::vector<float> weights;         // [output, taps]
};

// `attrs` are those of the core operator resize.
ResizeTable resize_table(const graph::Attributes& attrs, const ResizeAxis& axis);

}  // namespace concord::gpu
