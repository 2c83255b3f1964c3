// Rotary embedding, running sums, argmax.

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/rotary.h"
#include "backends/gpu/kernels/scan.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"

namespace concord::gpu {
namespace {

struct RotaryCase {
  int batch, p, q, depth, rotary;
  bool interleaved, sequence_first, full, positions, batched;
};

void check_rotary(const RotaryCase& c) {
  SCOPED_TRACE(testing::Message() << "interleaved " << c.interleaved << " sequence first "
                                  << c.sequence_first << " full " << c.full << " positions "
                                  << c.positions << " batched " << c.batched);
  const int rows = c.batch * c.p * c.q;
  const int sequence = c.sequence_first ? c.p : c.q;
  const int width = c.full ? c.rotary : c.rotary / 2;
  const int length = c.positions ? 50 : c.batch * sequence;  // rows of the caches
  const std::vector<float> x = normal(static_cast<std::size_t>(rows) * c.depth, 1);
  const std::vector<float> cosines = uniform(static_cast<std::size_t>(length) * width, -1, 1, 2);
  const std::vector<float> sines = uniform(static_cast<std::size_t>(length) * width, -1, 1, 3);
  const std::vector<std::int32_t> positions =
      integers(static_cast<std::size_t>(c.batch) * sequence, 0, length - 1, 4);
  const Buffer in = upload(x);
  const Buffer cos_buffer = upload(cosines);
  const Buffer sin_buffer = upload(sines);
  const Buffer position_buffer = upload(positions);
  const Buffer fault = upload(std::vector<std::int32_t>{0, 0, 0});
  const Buffer out = upload(std::vector<float>(x.size() + 1, 7.0f));
  const int n = rows * (c.depth - c.rotary / 2);
  kernels::RotaryParams params;
  params.x = in.ptr;
  params.cos = cos_buffer.ptr;
  params.sin = sin_buffer.ptr;
  if (c.positions) params.positions = position_buffer.ptr;
  params.y = out.ptr;
  params.fault = fault.ptr;
  params.n = n;
  params.p = c.p;
  params.q = c.q;
  params.depth = c.depth;
  params.rotary = c.rotary;
  params.interleaved = c.interleaved ? 1 : 0;
  params.sequence_first = c.sequence_first ? 1 : 0;
  params.width = width;
  params.cos_batch = c.batched ? sequence : 0;
  params.positions_batch = c.batched ? sequence : 0;
  params.length = length;
  launch("rotary_f32", flat_groups(n), params);
  const std::vector<float> y = download<float>(out, x.size() + 1);
  for (int r = 0; r < rows; ++r) {
    const int b = r / c.q / c.p;
    const int s = c.sequence_first ? r / c.q % c.p : r % c.q;
    const int row_of_batch = c.batched ? b * sequence + s : s;
    const int trig = (c.positions ? positions[row_of_batch] : row_of_batch) * width;
    for (int d = 0; d < c.depth; ++d) {
      double exact = x[r * c.depth + d];
      if (d < c.rotary) {
        const int half = c.rotary / 2;
        const bool second = c.interleaved ? d % 2 == 1 : d >= half;
        const int pair = c.interleaved ? d / 2 : d % half;
        const int partner = c.interleaved ? d ^ 1 : (d + half) % c.rotary;
        const int at = trig + (c.full ? d : pair);
        exact = exact * cosines[at] +
                (second ? 1.0 : -1.0) * x[r * c.depth + partner] * double{sines[at]};
      }
      ASSERT_NEAR(y[r * c.depth + d], exact, 1e-6) << "row " << r << " element " << d;
    }
  }
  EXPECT_EQ(y.back(), 7.0f);
  EXPECT_EQ(download<std::int32_t>(fault, 1)[0], 0);
}

TEST(Rotary, TurnsPairsInEverySpelling) {
  for (int bits = 0; bits < 32; ++bits) {
    const auto bit = [&](int i) { return (bits >> i & 1) != 0; };
    check_rotary({2, 3, 5, 16, 16, bit(0), bit(1), bit(2), bit(3), bit(4)});
    check_rotary({2, 4, 3, 20, 8, bit(0), bit(1), bit(2), bit(3), bit(4)});
  }
}

TEST(Rotary, FlagsPositionsOutside) {
  const Buffer x = upload(std::vector<float>(4, 1.0f));
  const Buffer cache = upload(std::vector<float>(6, 0.5f));
  for (std::int32_t position : {-1, 3}) {
    const Buffer positions = upload(std::vector<std::int32_t>{position});
    const Buffer fault = upload(std::vector<std::int32_t>{0, 0, 0});
    kernels::RotaryParams params;
    params.x = x.ptr;
    params.cos = cache.ptr;
    params.sin = cache.ptr;
    params.positions = positions.ptr;
    params.y = x.ptr;
    params.fault = fault.ptr;
    params.n = 2;
    params.p = 1;
    params.q = 1;
    params.depth = 4;
    params.rotary = 4;
    params.width = 2;
    params.length = 3;
    launch("rotary_f32", {1, 1, 1}, params);
    EXPECT_EQ(download<std::int32_t>(fault, 1)[0], 1) << position;
  }
}

TEST(Scan, RunningSums) {
  const int outer = 3, length = 7, inner = 30;
  const std::vector<std::int32_t> x = integers(outer * length * inner, -9, 9);
  std::vector<float> x_float(x.begin(), x.end());
  const Buffer in = upload(x);
  const Buffer in_float = upload(x_float);
  for (int exclusive : {0, 1}) {
    for (int reverse : {0, 1}) {
      const Buffer out = upload(std::vector<std::int32_t>(x.size()));
      const Buffer out_float = upload(std::vector<float>(x.size()));
      launch<kernels::ScanParams>(
          "scan_sum_i32", {2, 1, 1},
          {in.ptr, out.ptr, outer * inner, length, inner, exclusive, reverse});
      launch<kernels::ScanParams>(
          "scan_sum_f32", {2, 1, 1},
          {in_float.ptr, out_float.ptr, outer * inner, length, inner, exclusive, reverse});
      const std::vector<std::int32_t> y = download<std::int32_t>(out, x.size());
      const std::vector<float> z = download<float>(out_float, x.size());
      for (int line = 0; line < outer * inner; ++line) {
        std::int32_t sum = 0;
        for (int step = 0; step < length; ++step) {
          const int j = reverse == 1 ? length - 1 - step : step;
          const int at = (line / inner * length + j) * inner + line % inner;
          if (exclusive == 0) sum += x[at];
          ASSERT_EQ(y[at], sum);
          ASSERT_EQ(z[at], static_cast<float>(sum));
          if (exclusive == 1) sum += x[at];
        }
      }
    }
  }
}

TEST(Scan, FindsTheFirstOrLastOfTheBest) {
  const std::vector<float> x = {3, 5, 5, 1, NAN, 2, NAN, 1, -INFINITY, -1, -1, -INFINITY};
  const Buffer in = upload(x);
  const auto run = [&](const std::string& name, int last) {
    const Buffer out = upload(std::vector<std::int32_t>(3));
    launch<kernels::ScanArgmaxParams>("scan_" + name, {1, 1, 1}, {in.ptr, out.ptr, 3, 4, 1, last});
    return download<std::int32_t>(out, 3);
  };
  using Ints = std::vector<std::int32_t>;
  EXPECT_EQ(run("argmax_f32", 0), (Ints{1, 0, 1}));
  EXPECT_EQ(run("argmax_f32", 1), (Ints{2, 2, 2}));
  EXPECT_EQ(run("argmin_f32", 0), (Ints{3, 0, 0}));
  EXPECT_EQ(run("argmin_f32", 1), (Ints{3, 2, 3}));

  const std::vector<std::int32_t> values = integers(4 * 9 * 5, -3, 3);
  const Buffer ints = upload(values);
  for (int last : {0, 1}) {
    const Buffer out = upload(std::vector<std::int32_t>(20));
    launch<kernels::ScanArgmaxParams>("scan_argmax_i32", {1, 1, 1},
                                      {ints.ptr, out.ptr, 20, 9, 5, last});
    const Ints y = download<std::int32_t>(out, 20);
    for (int line = 0; line < 20; ++line) {
      const auto at = [&](int j) { return values[(line / 5 * 9 + j) * 5 + line % 5]; };
      int best = 0;
      for (int j = 1; j < 9; ++j) {
        if (last == 1 ? at(j) >= at(best) : at(j) > at(best)) best = j;
      }
      EXPECT_EQ(y[line], best);
    }
  }
}

}  // namespace
}  // namespace concord::gpu
