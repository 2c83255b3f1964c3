// Kernels that move 16-bit elements put them where those for 32 bits do.

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/copy.h"
#include "backends/gpu/kernels/fill.h"
#include "backends/gpu/kernels/gather.h"
#include "backends/gpu/kernels/pad.h"
#include "backends/gpu/kernels/scatter.h"
#include "backends/gpu/kernels/select.h"
#include "tests/gpu/half.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"

namespace concord::gpu {
namespace {

// Elements 1, 2, ... in both widths, and results of both.
struct Widths {
  Buffer wide, narrow;
  DevicePtr of(int bits) const { return bits == 16 ? narrow.ptr : wide.ptr; }
};

Widths widths(std::size_t count, int first = 1) {
  std::vector<std::uint32_t> wide(count);
  std::vector<std::uint16_t> narrow(count);
  for (std::size_t i = 0; i < count; ++i) {
    wide[i] = static_cast<std::uint32_t>(i) + first;
    narrow[i] = static_cast<std::uint16_t>(wide[i]);
  }
  return {upload(wide), upload(narrow)};
}

void compare_widths(const Widths& y, std::size_t count,
                    const std::function<void(int, const std::string&)>& launch_as) {
  launch_as(32, "_32");
  launch_as(16, "_16");
  const std::vector<std::uint32_t> wide = download<std::uint32_t>(y.wide, count);
  const std::vector<std::uint16_t> narrow = download<std::uint16_t>(y.narrow, count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(narrow[i], wide[i]) << i;
}

class Moves16 : public testing::Test {
 protected:
  void SetUp() override {
    if (!runs_here("copy_16")) GTEST_SKIP() << "the device has no 16-bit integers";
  }
};

TEST_F(Moves16, Copies) {
  const Widths x = widths(600);
  const Widths y = widths(600, 7000);
  compare_widths(y, 600, [&](int bits, const std::string& width) {
    launch<kernels::CopyStridedParams>(
        "copy_strided" + width, {1, 1, 1},
        {x.of(bits), y.of(bits), 120, 3, 1, 1, 4, 5, 6, 0, 0, 0, 1, 4, 20, 0, 0, 0, 60, 12, 2});
  });
  compare_widths(y, 600, [&](int bits, const std::string& width) {
    launch<kernels::CopyTransposedParams>("copy_transposed" + width, {2, 1, 1},
                                          {x.of(bits), y.of(bits), 13, 45, 0, 45, 0, 13});
  });
  compare_widths(y, 600, [&](int bits, const std::string& width) {
    launch<kernels::CopyParams>("copy" + width, {1, 1, 1}, {x.of(bits), y.of(bits), 599});
  });
}

TEST_F(Moves16, GathersAndScatters) {
  const Widths x = widths(90);
  const Widths y = widths(400, 7000);
  const Buffer indices = upload(integers(64, 0, 4, 3));
  const Buffer fault = upload(std::vector<std::int32_t>{0, 0, 0});
  compare_widths(y, 400, [&](int bits, const std::string& width) {
    launch<kernels::GatherParams>("gather" + width, {1, 1, 1},
                                  {x.of(bits), indices.ptr, y.of(bits), fault.ptr, 60, 5, 10, 3});
  });
  compare_widths(y, 400, [&](int bits, const std::string& width) {
    launch<kernels::GatherElementsParams>("gather_elements" + width, {1, 1, 1},
                                          {x.of(bits), indices.ptr, y.of(bits), fault.ptr, 60, 3, 1,
                                           1, 3, 4, 5, 0, 0, 0, 20, 0, 1, 5, 5});
  });
  compare_widths(y, 400, [&](int bits, const std::string& width) {
    launch<kernels::GatherNdParams>(
        "gather_nd" + width, {1, 1, 1},
        {x.of(bits), indices.ptr, y.of(bits), fault.ptr, 48, 3, 16, 0, 2, 5, 5,
         1,          1,           1,          1,         15, 3, 0,  0, 0, 0});
  });
  const Buffer distinct = upload(std::vector<std::int32_t>{3, 0, 4, 1});
  compare_widths(y, 400, [&](int bits, const std::string& width) {
    launch<kernels::ScatterParams>("scatter_nd" + width, {1, 1, 1},
                                   {x.of(bits), distinct.ptr, y.of(bits), fault.ptr, 28, 7, 1, 5, 1,
                                    1, 1, 1, 1, 7, 0, 0, 0, 0, 0});
  });
  compare_widths(y, 400, [&](int bits, const std::string& width) {
    launch<kernels::ScatterElementsParams>("scatter_elements" + width, {1, 1, 1},
                                           {x.of(bits), distinct.ptr, y.of(bits), fault.ptr, 4, 1,
                                            1, 1, 1, 1, 4, 0, 0, 0, 0, 0, 0, 9, 5});
  });
  EXPECT_EQ(download<std::int32_t>(fault, 1)[0], 0);
}

TEST_F(Moves16, PadsSelectsAndFills) {
  const Widths x = widths(60);
  const Widths y = widths(400, 7000);
  for (int mode = 0; mode < 4; ++mode) {
    compare_widths(y, 400, [&](int bits, const std::string& width) {
      launch<kernels::PadParams>(
          "pad" + width, {1, 1, 1},
          {x.of(bits), y.of(bits), x.of(bits), 99, 2, mode, 1, 1, 1, 9, 11, 1,
           1,          1,          1,          5,  7, 0,    0, 0, 0, 2, 3});
    });
  }
  const Widths other = widths(60, 300);
  const Buffer condition = upload(integers(60, 0, 1, 3));
  compare_widths(y, 400, [&](int bits, const std::string& width) {
    launch<kernels::SelectParams>(
        "select" + width, {1, 1, 1},
        {condition.ptr, x.of(bits), other.of(bits), y.of(bits), 60, 60, 60, 1});
  });
  compare_widths(y, 400, [&](int bits, const std::string& width) {
    launch<kernels::SelectStridedParams>("select_strided" + width, {1, 1, 1},
                                         {condition.ptr,
                                          x.of(bits),
                                          other.of(bits),
                                          y.of(bits),
                                          60,
                                          2,
                                          1,
                                          1,
                                          6,
                                          10,
                                          0,
                                          0,
                                          0,
                                          1,
                                          6,
                                          0,
                                          0,
                                          0,
                                          10,
                                          1,
                                          0,
                                          0,
                                          0,
                                          0,
                                          1});
  });
  compare_widths(y, 400, [&](int bits, const std::string& width) {
    launch<kernels::FillParams>("fill" + width, {1, 1, 1}, {y.of(bits), 399, 12345u});
  });
  compare_widths(y, 400, [&](int bits, const std::string& width) {
    launch<kernels::FillTriluParams>("fill_trilu" + width, {1, 1, 1},
                                     {x.of(bits), y.of(bits), {}, 60, 5, 6, 1, 1});
  });
  compare_widths(y, 400, [&](int bits, const std::string& width) {
    launch<kernels::FillOneHotParams>("fill_one_hot" + width, {1, 1, 1},
                                      {condition.ptr, x.of(bits), y.of(bits), 120, 4, 3});
  });
}

TEST_F(Moves16, RangesAndSumsOfUpdates) {
  const std::vector<float> start{0.5f};
  const std::vector<float> delta{0.125f};
  const Buffer start_buffer = upload(to_half(start));
  const Buffer delta_buffer = upload(to_half(delta));
  const Buffer y = upload(std::vector<std::uint16_t>(100));
  launch<kernels::FillRangeParams>("fill_range_f16", {1, 1, 1},
                                   {start_buffer.ptr, delta_buffer.ptr, y.ptr, 100});
  const std::vector<std::uint16_t> range = download<std::uint16_t>(y, 100);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(half_value(range[i]), 0.5f + 0.125f * i);

  const Buffer sums = upload(to_half(std::vector<float>(6, 1.0f)));
  const Buffer updates = upload(to_half({1, 2, 3, 4, 5, 6, 7, 8}));
  const Buffer indices = upload(std::vector<std::int32_t>{2, 0, 2, 2});
  const Buffer fault = upload(std::vector<std::int32_t>{0, 0, 0});
  launch<kernels::ScatterNdAddParams>(
      "scatter_nd_add_f16", {1, 1, 1},
      {updates.ptr, indices.ptr, sums.ptr, fault.ptr, 2, 4, 1, 3, 1, 1, 1, 1, 1, 2, 0, 0, 0, 0, 0});
  const std::vector<std::uint16_t> result = download<std::uint16_t>(sums, 6);
  const float expected[] = {4, 5, 1, 1, 14, 17};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(half_value(result[i]), expected[i]) << i;
}

}  // namespace
}  // namespace concord::gpu
