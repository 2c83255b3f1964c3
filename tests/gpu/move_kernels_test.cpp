// Copies, padding, fills.

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/copy.h"
#include "backends/gpu/kernels/fill.h"
#include "backends/gpu/kernels/pad.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"
#include "tests/gpu/strided.h"

namespace concord::gpu {
namespace {

using Ints = std::vector<std::int32_t>;

Ints counting(std::size_t count) {
  Ints values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int32_t>(i) + 1;
  return values;
}

// Copies d elements from x (from `x_first`, by strides) into y of y_count zeros.
Ints copy_strided(const Ints& x, int x_first, const Extents& d, const Extents& sx, int y_count,
                  int y_first, const Extents& sy) {
  const Buffer in = upload(x);
  const Buffer out = upload(Ints(y_count, 0));
  const int n = count_of(d);
  launch<kernels::CopyStridedParams>(
      "copy_strided_32", flat_groups(n),
      {in.at(x_first), out.at(y_first), n,     rank_of(d), d[1],  d[2],  d[3],  d[4],
       d[5],           sx[0],           sx[1], sx[2],      sx[3], sx[4], sx[5], sy[0],
       sy[1],          sy[2],           sy[3], sy[4],      sy[5]});
  return download<std::int32_t>(out, y_count);
}

void check_copy(int x_count, int x_first, const Extents& d, const Extents& sx, int y_count,
                int y_first, const Extents& sy) {
  const Ints x = counting(x_count);
  Ints expected(y_count, 0);
  for (int i = 0; i < count_of(d); ++i) {
    const Extents c = coordinates(i, d);
    expected[y_first + dot(c, sy)] = x[x_first + dot(c, sx)];
  }
  EXPECT_EQ(copy_strided(x, x_first, d, sx, y_count, y_first, sy), expected);
}

TEST(Copy, TransposesAnyAxes) {
  const Extents d{3, 2, 4, 5, 2, 7};  // extents of y
  const int n = count_of(d);
  // y axis i is x axis 5 - i.
  const Extents x_dense = dense({7, 2, 5, 4, 2, 3});
  const Extents sx{x_dense[5], x_dense[4], x_dense[3], x_dense[2], x_dense[1], x_dense[0]};
  check_copy(n, 0, d, sx, n, 0, dense(d));
  // [batch, seq, heads, depth] to [batch, heads, seq, depth]
  check_copy(2 * 9 * 3 * 8, 0, {1, 1, 2, 3, 9, 8}, {0, 0, 216, 8, 24, 1}, 432, 0,
             dense({1, 1, 2, 3, 9, 8}));
}

TEST(Copy, SlicesWithStepsAndReverses) {
  // x [10, 12]: rows 8, 5, 2 and columns 1, 3, 5, 7.
  check_copy(120, 8 * 12 + 1, {1, 1, 1, 1, 3, 4}, {0, 0, 0, 0, -36, 2}, 12, 0,
             dense({1, 1, 1, 1, 3, 4}));
}

TEST(Copy, BroadcastsAndWritesIntoParts) {
  // x [3, 1] repeated into columns 4 .. 8 of y [3, 10].
  check_copy(3, 0, {1, 1, 1, 1, 3, 5}, {0, 0, 0, 0, 1, 0}, 30, 4, {0, 0, 0, 0, 10, 1});
}

TEST(Copy, LeavesTheRestAlone) {
  const Ints x = counting(2000);
  const Buffer in = upload(x);
  const Buffer out = upload(Ints(2001, -5));
  launch<kernels::CopyParams>("copy_32", flat_groups(2000), {in.ptr, out.ptr, 2000});
  Ints expected = x;
  expected.push_back(-5);
  EXPECT_EQ(download<std::int32_t>(out, 2001), expected);
}

TEST(Copy, TransposesThroughSharedMemory) {
  const int batch = 3;
  const int rows = 45;
  const int columns = 70;
  const Ints x = counting(batch * rows * columns);
  const Buffer in = upload(x);
  const Buffer out = upload(Ints(x.size() + 1, -5));
  launch<kernels::CopyTransposedParams>(
      "copy_transposed_32", {3, 2, batch},
      {in.ptr, out.ptr, rows, columns, rows * columns, columns, rows * columns, rows});
  const Ints y = download<std::int32_t>(out, x.size() + 1);
  for (int b = 0; b < batch; ++b) {
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        ASSERT_EQ(y[(b * columns + c) * rows + r], x[(b * rows + r) * columns + c]);
      }
    }
  }
  EXPECT_EQ(y.back(), -5);
}

// The source coordinate that mode takes for c, by walking; -1 where there is none.
int padded_source(int c, int before, int length, int mode) {
  int i = c - before;
  if (mode == 0) return i >= 0 && i < length ? i : -1;
  if (mode == 2) return std::clamp(i, 0, length - 1);
  while (i < 0 || i >= length) {
    if (mode == 3) {
      i += i < 0 ? length : -length;
    } else {
      if (length == 1) return 0;
      i = i < 0 ? -i : 2 * (length - 1) - i;
    }
  }
  return i;
}

TEST(Pad, EveryModeOnEveryAxis) {
  struct Case {
    Extents x, before, after;
  };
  const Case cases[] = {
      {{1, 1, 1, 1, 1, 5}, {0, 0, 0, 0, 0, 3}, {0, 0, 0, 0, 0, 4}},
      {{1, 1, 1, 2, 3, 4}, {0, 0, 0, 1, 2, 3}, {0, 0, 0, 1, 0, 2}},
      {{2, 3, 2, 2, 3, 4}, {1, 0, 1, 0, 2, 0}, {0, 2, 1, 1, 0, 3}},
      {{1, 1, 1, 1, 6, 7}, {0, 0, 0, 0, -2, 3}, {0, 0, 0, 0, 1, -4}},
      {{1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 1, 2}, {0, 0, 0, 0, 1, 2}},
      {{1, 1, 1, 1, 1, 3}, {0, 0, 0, 0, 0, 8}, {0, 0, 0, 0, 0, 9}},
  };
  for (const Case& c : cases) {
    Extents d{};
    for (int axis = 0; axis < 6; ++axis) d[axis] = c.x[axis] + c.before[axis] + c.after[axis];
    const Ints x = counting(count_of(c.x));
    const int n = count_of(d);
    const Buffer in = upload(x);
    const Buffer filling = upload(Ints{99});
    for (int mode = 0; mode < 4; ++mode) {
      const Buffer out = upload(Ints(n));
      launch<kernels::PadParams>(
          "pad_32", flat_groups(n),
          {in.ptr,      out.ptr,     filling.ptr, n,           rank_of(d), mode,
           d[1],        d[2],        d[3],        d[4],        d[5],       c.x[0],
           c.x[1],      c.x[2],      c.x[3],      c.x[4],      c.x[5],     c.before[0],
           c.before[1], c.before[2], c.before[3], c.before[4], c.before[5]});
      const Ints y = download<std::int32_t>(out, n);
      for (int i = 0; i < n; ++i) {
        const Extents at = coordinates(i, d);
        int from = 0;
        bool inside = true;
        for (int axis = 0; axis < 6; ++axis) {
          const int s = padded_source(at[axis], c.before[axis], c.x[axis], mode);
          inside = inside && s >= 0;
          from = from * c.x[axis] + s;
        }
        ASSERT_EQ(y[i], inside ? x[from] : 99) << "mode " << mode << " element " << i;
      }
    }
  }
}

TEST(Fill, ConstantsRangesTrianglesAndOneHot) {
  const Buffer out = upload(Ints(1500, 1));
  launch<kernels::FillParams>("fill_32", flat_groups(1400), {out.ptr, 1400, 0xfffffffbu});
  const Ints filled = download<std::int32_t>(out, 1500);
  EXPECT_EQ(std::count(filled.begin(), filled.begin() + 1400, -5), 1400);
  EXPECT_EQ(std::count(filled.begin() + 1400, filled.end(), 1), 100);

  const Buffer start = upload(Ints{10});
  const Buffer delta = upload(Ints{-3});
  launch<kernels::FillRangeParams>("fill_range_i32", {1, 1, 1}, {start.ptr, delta.ptr, out.ptr, 5});
  EXPECT_EQ(download<std::int32_t>(out, 5), (Ints{10, 7, 4, 1, -2}));
  const Buffer start_f = upload(std::vector<float>{0.5f});
  const Buffer delta_f = upload(std::vector<float>{0.25f});
  launch<kernels::FillRangeParams>("fill_range_f32", {1, 1, 1},
                                   {start_f.ptr, delta_f.ptr, out.ptr, 3});
  EXPECT_EQ(download<float>(out, 3), (std::vector<float>{0.5f, 0.75f, 1.0f}));

  const int rows = 5, columns = 7;
  const Ints x = counting(2 * rows * columns);
  const Buffer in = upload(x);
  for (int upper : {0, 1}) {
    for (int diagonal : {-9, -2, 0, 3, 9}) {
      launch<kernels::FillTriluParams>(
          "fill_trilu_32", {1, 1, 1},
          {in.ptr, out.ptr, {}, 2 * rows * columns, rows, columns, diagonal, upper});
      const Ints y = download<std::int32_t>(out, x.size());
      for (int i = 0; i < 2 * rows * columns; ++i) {
        const int distance = i % columns - i / columns % rows;
        const bool keep = upper == 1 ? distance >= diagonal : distance <= diagonal;
        ASSERT_EQ(y[i], keep ? x[i] : 0);
      }
    }
  }

  const Ints indices = {0, 2, -1, 5, 3, -9};  // [2, 3] into depth 4 in the middle
  const Buffer index_buffer = upload(indices);
  const Buffer values = upload(Ints{-1, 8});
  launch<kernels::FillOneHotParams>("fill_one_hot_32", {1, 1, 1},
                                    {index_buffer.ptr, values.ptr, out.ptr, 24, 4, 3});
  const Ints hot = download<std::int32_t>(out, 24);
  for (int e = 0; e < 24; ++e) {
    const int raw = indices[e / 12 * 3 + e % 3];
    const int index = raw < 0 ? raw + 4 : raw;
    EXPECT_EQ(hot[e], index == e / 3 % 4 ? 8 : -1) << e;
  }
}

}  // namespace
}  // namespace concord::gpu
