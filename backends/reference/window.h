#pragma once

#include <array>

#include "graph/geometry.h"

namespace concord::reference {

// A window along one to three spatial axes as one along three: axes of extent 1 come first.
struct Window3 {
  struct Axis {
    std::int64_t input = 1;
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t pad_begin = 0;
    std::int64_t pad_end = 0;
    std::int64_t output = 1;
  };
  std::array<Axis, 3> axes;

  // Throws Error(unsupported) for more than three axes.
  explicit Window3(const graph::Window& window);

  std::int64_t input_size() const { return axes[0].input * axes[1].input * axes[2].input; }
  std::int64_t kernel_size() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
  std::int64_t output_size() const { return axes[0].output * axes[1].output * axes[2].output; }
};

// Place of a flat position of three extents.
inline std::array<std::int64_t, 3> unravel(std::int64_t flat, std::int64_t e1, std::int64_t e2) {
  return {flat / (e1 * e2), flat / e2 % e1, flat % e2};
}

}  // namespace concord::reference
