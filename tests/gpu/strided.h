#pragma once

// Index arithmetic of tests, in plain loops.

#include <array>
#include <cstddef>
#include <vector>

namespace concord::gpu {

using Extents = std::array<int, 6>;  // missing axes in front, as 1

inline int count_of(const Extents& d) {
  return d[0] * d[1] * d[2] * d[3] * d[4] * d[5];
}

inline int rank_of(const Extents& d) {
  int rank = 6;
  while (rank > 1 && d[6 - rank] == 1) --rank;
  return rank;
}

// Element strides of a contiguous tensor.
inline Extents dense(const Extents& d) {
  Extents strides{};
  int stride = 1;
  for (int axis = 5; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= d[axis];
  }
  return strides;
}

// Strides of a contiguous operand broadcast to other extents: 0 where its own is 1.
inline Extents broadcast(const Extents& own) {
  Extents strides = dense(own);
  for (int axis = 0; axis < 6; ++axis) {
    if (own[axis] == 1) strides[axis] = 0;
  }
  return strides;
}

inline Extents coordinates(int i, const Extents& d) {
  Extents c{};
  for (int axis = 5; axis >= 0; --axis) {
    c[axis] = i % d[axis];
    i /= d[axis];
  }
  return c;
}

inline int dot(const Extents& c, const Extents& strides) {
  int offset = 0;
  for (int axis = 0; axis < 6; ++axis) offset += c[axis] * strides[axis];
  return offset;
}

}  // namespace concord::gpu
