// Values brought back to narrow types, against the conversions of graph/dtype.h.

#include <bit>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/narrow.h"
#include "graph/dtype.h"
#include "tests/gpu/kernel_fixture.h"

namespace concord::gpu {
namespace {

// All kinds of floats: every exponent with mantissas on, between and beside what narrow types have.
std::vector<float> probes() {
  std::vector<float> values{0.0F, -0.0F, INFINITY, -INFINITY, NAN};
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    for (const std::uint32_t mantissa :
         {0U, 1U, 0x100000U, 0x180000U, 0x200000U, 0x3FFFFFU, 0x400000U, 0x500000U, 0x600000U,
          0x680000U, 0x700000U, 0x7FFFFFU, 0x008000U, 0x018000U}) {
      const std::uint32_t bits = exponent << 23 | mantissa;
      values.push_back(std::bit_cast<float>(bits));
      values.push_back(std::bit_cast<float>(bits | 0x80000000U));
    }
  }
  return values;
}

void expect_same(const std::vector<float>& x, const Buffer& out, DataType dtype, bool saturate) {
  const auto y = download<float>(out, x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = float_from_bits(dtype, float_to_bits(dtype, x[i], saturate));
    if (std::isnan(exact)) {
      ASSERT_TRUE(std::isnan(y[i])) << to_string(dtype) << " of " << x[i];
    } else {
      ASSERT_EQ(y[i], exact) << to_string(dtype) << " of " << x[i];
      ASSERT_EQ(std::signbit(y[i]), std::signbit(exact)) << to_string(dtype) << " of " << x[i];
    }
  }
}

struct Form {
  DataType dtype;
  std::int32_t mantissa, min_exponent;
  float limit;
  std::int32_t flags;
};

TEST(Narrow, FloatsRoundAsTheTypeDoes) {
  const std::vector<float> x = probes();
  const Buffer in = upload(x);
  const auto n = static_cast<std::int32_t>(x.size());
  for (const Form& form :
       {Form{DataType::f8e4m3fn, 3, -6, 448, 0}, Form{DataType::f8e4m3fnuz, 3, -7, 240, 8},
        Form{DataType::f16, 10, -14, 65504, 2}, Form{DataType::f8e5m2, 2, -14, 57344, 2},
        Form{DataType::f8e5m2fnuz, 2, -15, 57344, 8}, Form{DataType::f4e2m1, 1, 0, 6, 5}}) {
    for (const bool saturate : {false, true}) {
      if (saturate && form.dtype == DataType::f16) continue;
      const Buffer out = upload(std::vector<float>(x.size()));
      launch<kernels::NarrowFloatParams>("narrow_float_f32", flat_groups(n),
                                         {in.ptr, out.ptr, n, form.mantissa, form.min_exponent,
                                          form.limit, form.flags | (saturate ? 1 : 0)});
      expect_same(x, out, form.dtype, saturate);
    }
  }
}

TEST(Narrow, Bf16AndPowersOfTwo) {
  const std::vector<float> x = probes();
  const Buffer in = upload(x);
  const auto n = static_cast<std::int32_t>(x.size());
  const Buffer out = upload(std::vector<float>(x.size()));
  launch<kernels::NarrowBfloatParams>("narrow_bfloat_f32", flat_groups(n), {in.ptr, out.ptr, n});
  expect_same(x, out, DataType::bf16, false);
  for (const bool saturate : {false, true}) {
    launch<kernels::NarrowE8m0Params>("narrow_e8m0_f32", flat_groups(n),
                                      {in.ptr, out.ptr, n, saturate ? 1 : 0});
    expect_same(x, out, DataType::f8e8m0, saturate);
  }
}

TEST(Narrow, IntegersWrapOrClamp) {
  std::vector<std::int32_t> x;
  for (int i = -70000; i <= 70000; i += 7) x.push_back(i);
  x.push_back(2147483647);
  x.push_back(-2147483647 - 1);
  const Buffer in = upload(x);
  const Buffer out = upload(x);
  const auto n = static_cast<std::int32_t>(x.size());
  for (const int width : {2, 4, 8, 16}) {
    for (const int is_signed : {0, 1}) {
      launch<kernels::NarrowParams>("narrow_wrap_i32", flat_groups(n),
                                    {in.ptr, out.ptr, n, width, is_signed});
      const auto wrapped = download<std::int32_t>(out, x.size());
      const std::int32_t lowest = is_signed != 0 ? -(1 << (width - 1)) : 0;
      const std::int32_t highest = lowest + (1 << width) - 1;
      launch<kernels::NarrowClampParams>("narrow_clamp_i32", flat_groups(n),
                                         {in.ptr, out.ptr, n, lowest, highest});
      const auto clamped = download<std::int32_t>(out, x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int64_t range = std::int64_t{1} << width;
        const std::int64_t low = ((x[i] - std::int64_t{lowest}) % range + range) % range + lowest;
        ASSERT_EQ(wrapped[i], low) << x[i] << " in " << width;
        ASSERT_EQ(clamped[i], std::max(lowest, std::min(highest, x[i]))) << x[i];
      }
    }
  }
}

}  // namespace
}  // namespace concord::gpu
