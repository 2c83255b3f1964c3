// Gather and scatter families.

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/gather.h"
#include "backends/gpu/kernels/scatter.h"
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

TEST(Gather, TakesRowsAndFlagsWhatIsOutside) {
  const int outer = 2;
  const int length = 9;
  const int inner = 5;
  const Ints x = counting(outer * length * inner);
  const Ints indices = {0, 8, -1, -9, 3, 3};
  const int count = 6;
  const int n = outer * count * inner;
  const Buffer in = upload(x);
  const Buffer fault = upload(Ints{0, 0, 0});
  const Buffer out = upload(Ints(n + 1, -5));
  const Buffer good = upload(indices);
  launch<kernels::GatherParams>("gather_32", flat_groups(n),
                                {in.ptr, good.ptr, out.ptr, fault.ptr, n, length, count, inner});
  const Ints y = download<std::int32_t>(out, n + 1);
  for (int e = 0; e < n; ++e) {
    const int j = e / inner % count;
    const int row = indices[j] < 0 ? indices[j] + length : indices[j];
    ASSERT_EQ(y[e], x[(e / inner / count * length + row) * inner + e % inner]);
  }
  EXPECT_EQ(y[n], -5);
  EXPECT_EQ(download<std::int32_t>(fault, 1)[0], 0);
  for (std::int32_t wrong : {9, -10, 2'000'000'000}) {
    const Buffer flag = upload(Ints{0, 0, 0});
    const Buffer bad = upload(Ints{0, 1, 2, wrong, 4, 5});
    launch<kernels::GatherParams>("gather_32", flat_groups(n),
                                  {in.ptr, bad.ptr, out.ptr, flag.ptr, n, length, count, inner});
    EXPECT_EQ(download<std::int32_t>(flag, 1)[0], 1) << wrong;
  }
}

TEST(Gather, ElementsAlongEachAxis) {
  const Extents x_extents{1, 1, 2, 4, 3, 5};
  for (int axis = 2; axis < 6; ++axis) {
    Extents d = x_extents;  // of the indices; shorter on the other axes too
    d[axis] = 7;
    d[axis == 2 ? 3 : 2] -= 1;
    const int n = count_of(d);
    const Ints x = counting(count_of(x_extents));
    const int length = x_extents[axis];
    const Ints indices = integers(n, -length, length - 1);
    Extents sx = dense(x_extents);
    const int axis_stride = sx[axis];
    sx[axis] = 0;
    const Buffer in = upload(x);
    const Buffer index_buffer = upload(indices);
    const Buffer out = upload(Ints(n));
    const Buffer fault = upload(Ints{0, 0, 0});
    launch<kernels::GatherElementsParams>(
        "gather_elements_32", flat_groups(n),
        {in.ptr, index_buffer.ptr, out.ptr, fault.ptr, n, rank_of(d), d[1], d[2], d[3], d[4], d[5],
         sx[0], sx[1], sx[2], sx[3], sx[4], sx[5], axis_stride, length});
    const Ints y = download<std::int32_t>(out, n);
    for (int i = 0; i < n; ++i) {
      const int index = indices[i] < 0 ? indices[i] + length : indices[i];
      ASSERT_EQ(y[i], x[dot(coordinates(i, d), sx) + index * axis_stride]);
    }
    EXPECT_EQ(download<std::int32_t>(fault, 1)[0], 0);
  }
}

TEST(Gather, TuplesOfIndices) {
  // x [batch 2, 4, 5, inner 3], indices [2, 6, 2]
  const int batch = 2, l0 = 4, l1 = 5, inner = 3, count = 6;
  const Ints x = counting(batch * l0 * l1 * inner);
  Ints indices;
  for (int j = 0; j < batch * count; ++j) {
    indices.push_back(j % l0 - (j % 3 == 0 ? l0 : 0));
    indices.push_back(j % l1);
  }
  const int n = batch * count * inner;
  const Buffer in = upload(x);
  const Buffer index_buffer = upload(indices);
  const Buffer out = upload(Ints(n));
  const Buffer fault = upload(Ints{0, 0, 0});
  launch<kernels::GatherNdParams>("gather_nd_32", flat_groups(n), {in.ptr,  index_buffer.ptr,
                                                                   out.ptr, fault.ptr,
                                                                   n,       inner,
                                                                   count,   l0 * l1 * inner,
                                                                   2,       l0,
                                                                   l1,      1,
                                                                   1,       1,
                                                                   1,       l1 * inner,
                                                                   inner,   0,
                                                                   0,       0,
                                                                   0});
  const Ints y = download<std::int32_t>(out, n);
  for (int e = 0; e < n; ++e) {
    const int tuple = e / inner;
    const int i0 = (indices[2 * tuple] + l0) % l0;
    const int i1 = indices[2 * tuple + 1];
    ASSERT_EQ(y[e], x[((tuple / count * l0 + i0) * l1 + i1) * inner + e % inner]) << e;
  }
  EXPECT_EQ(download<std::int32_t>(fault, 1)[0], 0);
}

TEST(Scatter, TuplesOfIndices) {
  const int l0 = 4, l1 = 5, inner = 3, count = 4;
  const Ints indices = {0, 0, 3, 4, -1, 1, 2, -2};
  const Ints updates = counting(count * inner);
  const Buffer update_buffer = upload(updates);
  const Buffer index_buffer = upload(indices);
  const Buffer out = upload(Ints(l0 * l1 * inner, -5));
  const Buffer fault = upload(Ints{0, 0, 0});
  launch<kernels::ScatterParams>(
      "scatter_nd_32", {1, 1, 1},
      {update_buffer.ptr, index_buffer.ptr, out.ptr, fault.ptr, count * inner, inner, 2, l0, l1, 1,
       1, 1, 1, l1 * inner, inner, 0, 0, 0, 0});
  Ints expected(l0 * l1 * inner, -5);
  for (int e = 0; e < count * inner; ++e) {
    const int j = e / inner;
    const int i0 = (indices[2 * j] + l0) % l0;
    const int i1 = (indices[2 * j + 1] + l1) % l1;
    expected[(i0 * l1 + i1) * inner + e % inner] = updates[e];
  }
  EXPECT_EQ(download<std::int32_t>(out, expected.size()), expected);
  EXPECT_EQ(download<std::int32_t>(fault, 1)[0], 0);
}

// Equal indices are summed; order matters for f32 and is that of the updates.
TEST(Scatter, ReducesInOrder) {
  const int rows = 3, inner = 130, count = 50;
  const Ints indices = integers(count, 0, rows - 1);
  const std::vector<float> updates = normal(count * inner, 1);
  const std::vector<float> start = normal(rows * inner, 2);
  const auto run = [&](const std::string& name) {
    const Buffer update_buffer = upload(updates);
    const Buffer index_buffer = upload(indices);
    const Buffer out = upload(start);
    const Buffer fault = upload(Ints{0, 0, 0});
    launch<kernels::ScatterNdAddParams>(
        "scatter_nd_" + name + "_f32", {3, 1, 1},
        {update_buffer.ptr, index_buffer.ptr, out.ptr, fault.ptr, inner, count, 1, rows, 1, 1, 1, 1,
         1, inner, 0, 0, 0, 0, 0});
    return download<float>(out, start.size());
  };
  std::vector<float> sum = start, product = start, largest = start, smallest = start;
  for (int j = 0; j < count; ++j) {
    for (int i = 0; i < inner; ++i) {
      const int at = indices[j] * inner + i;
      const float u = updates[j * inner + i];
      sum[at] += u;
      product[at] *= u;
      largest[at] = std::max(largest[at], u);
      smallest[at] = std::min(smallest[at], u);
    }
  }
  EXPECT_EQ(run("add"), sum);
  EXPECT_EQ(run("max"), largest);
  EXPECT_EQ(run("min"), smallest);
  const std::vector<float> y = run("mul");
  for (std::size_t i = 0; i < y.size(); ++i) {
    // Products become subnormal, which drivers may flush.
    ASSERT_NEAR(y[i], product[i], 1.2e-38 + std::abs(product[i]) * 1e-6) << i;
  }
}

TEST(Scatter, ElementsAlongEachAxis) {
  const Extents y_extents{1, 1, 2, 4, 3, 5};
  for (int axis = 2; axis < 6; ++axis) {
    Extents d = y_extents;
    d[axis == 2 ? 3 : 2] -= 1;
    const int n = count_of(d);
    const int length = y_extents[axis];
    Extents sy = dense(y_extents);
    const int axis_stride = sy[axis];
    sy[axis] = 0;
    // Distinct within each line of the axis: a rotation.
    Ints indices(n);
    for (int i = 0; i < n; ++i) {
      const Extents c = coordinates(i, d);
      indices[i] = (c[axis] + c[2] + c[3] + c[4] + c[5]) % length - (c[axis] % 2 ? length : 0);
    }
    const Ints updates = counting(n);
    const Buffer update_buffer = upload(updates);
    const Buffer index_buffer = upload(indices);
    const Buffer fault = upload(Ints{0, 0, 0});
    const Buffer out = upload(Ints(count_of(y_extents), -5));
    launch<kernels::ScatterElementsParams>(
        "scatter_elements_32", flat_groups(n),
        {update_buffer.ptr, index_buffer.ptr, out.ptr, fault.ptr, n, rank_of(d), d[1], d[2], d[3],
         d[4], d[5], sy[0], sy[1], sy[2], sy[3], sy[4], sy[5], axis_stride, length});
    const auto at = [&](int i) {
      return dot(coordinates(i, d), sy) + (indices[i] + length) % length * axis_stride;
    };
    Ints expected(count_of(y_extents), -5);
    for (int i = 0; i < n; ++i) expected[at(i)] = updates[i];
    EXPECT_EQ(download<std::int32_t>(out, expected.size()), expected) << axis;

    // Summed: invocations own lines along the axis.
    Extents lines = d;
    lines[axis] = 1;
    const int count = count_of(lines);
    Extents su = dense(d);
    const int u_axis_stride = su[axis];
    su[axis] = 0;
    Ints same(n, 1);  // every update of a line to index 1
    const Buffer same_buffer = upload(same);
    const Buffer sums = upload(Ints(count_of(y_extents), 0));
    launch<kernels::ScatterElementsAddParams>("scatter_elements_add_i32",
                                              rows_of_groups((count + 63) / 64),
                                              {update_buffer.ptr,
                                               same_buffer.ptr,
                                               sums.ptr,
                                               fault.ptr,
                                               count,
                                               lines[1],
                                               lines[2],
                                               lines[3],
                                               lines[4],
                                               lines[5],
                                               su[0],
                                               su[1],
                                               su[2],
                                               su[3],
                                               su[4],
                                               su[5],
                                               sy[0],
                                               sy[1],
                                               sy[2],
                                               sy[3],
                                               sy[4],
                                               sy[5],
                                               u_axis_stride,
                                               axis_stride,
                                               d[axis],
                                               length});
    Ints expected_sums(count_of(y_extents), 0);
    for (int i = 0; i < n; ++i) {
      expected_sums[dot(coordinates(i, d), sy) + axis_stride] += updates[i];
    }
    EXPECT_EQ(download<std::int32_t>(sums, expected_sums.size()), expected_sums) << axis;
    EXPECT_EQ(download<std::int32_t>(fault, 1)[0], 0);
  }
}

}  // namespace
}  // namespace concord::gpu
