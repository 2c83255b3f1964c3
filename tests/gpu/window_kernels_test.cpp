// Direct and transposed convolutions, pooling.

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/window.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"

namespace concord::gpu {
namespace {

struct WindowCase {
  int batch, groups, group_in, group_out;
  int in_h, in_w, out_h, out_w, kernel_h, kernel_w;
  int stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, pad_h = 0, pad_w = 0;
};

// Extents of the outputs: of a convolution, and of a transposed one.
WindowCase sized(WindowCase c, int end_pad, bool transposed) {
  const auto out = [&](int in, int kernel, int stride, int dilation, int pad) {
    const int reach = (kernel - 1) * dilation + 1;
    return transposed ? (in - 1) * stride + reach - pad - end_pad
                      : (in + pad + end_pad - reach) / stride + 1;
  };
  c.out_h = out(c.in_h, c.kernel_h, c.stride_h, c.dilation_h, c.pad_h);
  c.out_w = out(c.in_w, c.kernel_w, c.stride_w, c.dilation_w, c.pad_w);
  return c;
}

std::vector<WindowCase> window_cases(bool transposed) {
  return {
      sized({2, 1, 3, 4, 7, 9, 0, 0, 3, 3}, 0, transposed),
      sized({1, 6, 1, 1, 8, 8, 0, 0, 3, 3, 1, 1, 1, 1, 1, 1}, 1, transposed),
      sized({2, 2, 3, 5, 9, 6, 0, 0, 3, 2, 2, 1, 1, 2, 1, 0}, 1, transposed),
      sized({1, 1, 2, 3, 1, 20, 0, 0, 1, 5, 1, 3, 1, 2, 0, 2}, 0, transposed),
      sized({3, 4, 2, 2, 5, 5, 0, 0, 1, 1, 2, 2}, 0, transposed),
  };
}

kernels::WindowParams conv_params(const WindowCase& c, const Buffer& x, const Buffer& w,
                                  DevicePtr bias, const Buffer& y) {
  kernels::WindowParams params;
  params.x = x.ptr;
  params.w = w.ptr;
  params.bias = bias;
  params.y = y.ptr;
  params.n = c.batch * c.groups * c.group_out * c.out_h * c.out_w;
  params.group_in = c.group_in;
  params.group_out = c.group_out;
  params.groups = c.groups;
  params.in_d = params.out_d = params.kernel_d = params.stride_d = params.dilation_d = 1;
  params.in_h = c.in_h;
  params.in_w = c.in_w;
  params.out_h = c.out_h;
  params.out_w = c.out_w;
  params.kernel_h = c.kernel_h;
  params.kernel_w = c.kernel_w;
  params.stride_h = c.stride_h;
  params.stride_w = c.stride_w;
  params.dilation_h = c.dilation_h;
  params.dilation_w = c.dilation_w;
  params.pad_h = c.pad_h;
  params.pad_w = c.pad_w;
  return params;
}

// Sum and sum of squares of what a result is made of.
struct Products {
  double sum = 0, squares = 0;
  void add(double product) {
    sum += product;
    squares += product * product;
  }
};

TEST(Conv, DirectMatchesPlainLoops) {
  for (const WindowCase& c : window_cases(false)) {
    SCOPED_TRACE(testing::Message() << c.in_h << "x" << c.in_w << " groups " << c.groups);
    const int channels = c.groups * c.group_out;
    const int taps = c.kernel_h * c.kernel_w;
    const auto x = normal(c.batch * c.groups * c.group_in * c.in_h * c.in_w, 1);
    const auto w = normal(channels * c.group_in * taps, 2);
    const auto bias = normal(channels, 3);
    const Buffer x_buffer = upload(x);
    const Buffer w_buffer = upload(w);
    const Buffer bias_buffer = upload(bias);
    for (const std::string function : {"", "relu_", "silu_", "hard_swish_"}) {
      const bool biased = function.empty();
      const int n = c.batch * channels * c.out_h * c.out_w;
      const Buffer out = upload(std::vector<float>(n + 1, 7.0f));
      launch("conv_direct_" + function + "f32", flat_groups(n),
             conv_params(c, x_buffer, w_buffer, biased ? bias_buffer.ptr : DevicePtr{}, out));
      const auto y = download<float>(out, n + 1);
      for (int e = 0; e < n; ++e) {
        const int ow = e % c.out_w;
        const int oh = e / c.out_w % c.out_h;
        const int m = e / (c.out_w * c.out_h) % channels;
        const int b = e / (c.out_w * c.out_h * channels);
        Products p;
        if (biased) p.add(bias[m]);
        for (int ci = 0; ci < c.group_in; ++ci) {
          const int plane = (b * c.groups + m / c.group_out) * c.group_in + ci;
          for (int kh = 0; kh < c.kernel_h; ++kh) {
            for (int kw = 0; kw < c.kernel_w; ++kw) {
              const int ih = oh * c.stride_h + kh * c.dilation_h - c.pad_h;
              const int iw = ow * c.stride_w + kw * c.dilation_w - c.pad_w;
              if (ih < 0 || ih >= c.in_h || iw < 0 || iw >= c.in_w) continue;
              p.add(double{x[(plane * c.in_h + ih) * c.in_w + iw]} *
                    w[(m * c.group_in + ci) * taps + kh * c.kernel_w + kw]);
            }
          }
        }
        const double exact = function == "relu_"   ? std::max(p.sum, 0.0)
                             : function == "silu_" ? p.sum / (1 + std::exp(-p.sum))
                             : function == "hard_swish_"
                                 ? p.sum * std::clamp(p.sum / 6 + 0.5, 0., 1.)
                                 : p.sum;
        double allowed = dot_budget(p.sum, p.squares, c.group_in * taps + 1);
        if (function == "silu_" || function == "hard_swish_") {
          // Slopes are at most 1.5, a function errs by 4 ulp, and x / 6 + 1/2 may cancel.
          allowed = 1.5 * allowed + std::ldexp(8 * std::abs(exact) + 2 * std::abs(p.sum), -24);
        }
        ASSERT_LE(std::abs(y[e] - exact), allowed) << function << e;
      }
      EXPECT_EQ(y.back(), 7.0f);
    }
  }
}

TEST(Conv, TransposedMatchesPlainLoops) {
  for (const WindowCase& c : window_cases(true)) {
    SCOPED_TRACE(testing::Message() << c.in_h << "x" << c.in_w << " groups " << c.groups);
    const int channels = c.groups * c.group_out;
    const int taps = c.kernel_h * c.kernel_w;
    const auto x = normal(c.batch * c.groups * c.group_in * c.in_h * c.in_w, 1);
    const auto w = normal(c.groups * c.group_in * c.group_out * taps, 2);
    const auto bias = normal(channels, 3);
    const int n = c.batch * channels * c.out_h * c.out_w;
    std::vector<Products> exact(n);
    // Scattered, as the operator is defined; the kernel gathers.
    for (int b = 0; b < c.batch; ++b) {
      for (int g = 0; g < c.groups; ++g) {
        for (int ci = 0; ci < c.group_in; ++ci) {
          for (int ih = 0; ih < c.in_h; ++ih) {
            for (int iw = 0; iw < c.in_w; ++iw) {
              const int from = g * c.group_in + ci;
              const double value =
                  x[((b * c.groups * c.group_in + from) * c.in_h + ih) * c.in_w + iw];
              for (int m = 0; m < c.group_out; ++m) {
                for (int t = 0; t < taps; ++t) {
                  const int oh = ih * c.stride_h + t / c.kernel_w * c.dilation_h - c.pad_h;
                  const int ow = iw * c.stride_w + t % c.kernel_w * c.dilation_w - c.pad_w;
                  if (oh < 0 || oh >= c.out_h || ow < 0 || ow >= c.out_w) continue;
                  const int to = g * c.group_out + m;
                  exact[((b * channels + to) * c.out_h + oh) * c.out_w + ow].add(
                      value * w[(from * c.group_out + m) * taps + t]);
                }
              }
            }
          }
        }
      }
    }
    const Buffer x_buffer = upload(x);
    const Buffer w_buffer = upload(w);
    const Buffer bias_buffer = upload(bias);
    const Buffer out = upload(std::vector<float>(n + 1, 7.0f));
    launch("conv_transpose_f32", flat_groups(n),
           conv_params(c, x_buffer, w_buffer, bias_buffer.ptr, out));
    const auto y = download<float>(out, n + 1);
    for (int e = 0; e < n; ++e) {
      Products& p = exact[e];
      p.add(bias[e / (c.out_w * c.out_h) % channels]);
      ASSERT_LE(std::abs(y[e] - p.sum), dot_budget(p.sum, p.squares, c.group_in * taps + 1)) << e;
    }
    EXPECT_EQ(y.back(), 7.0f);
  }
}

struct PoolCase {
  WindowCase w;
  int end_pad_h = 0, end_pad_w = 0;
};

void check_pool(const PoolCase& p, const std::string& fn, bool count_pad, bool column_major,
                float power) {
  const WindowCase& c = p.w;
  SCOPED_TRACE(testing::Message() << fn << " " << c.in_h << "x" << c.in_w << " count " << count_pad
                                  << " power " << power);
  const int planes = c.batch;
  auto x = normal(planes * c.in_h * c.in_w, 1);
  x[3] = NAN;
  const int n = planes * c.out_h * c.out_w;
  const Buffer x_buffer = upload(x);
  const Buffer out = upload(std::vector<float>(n + 1, 7.0f));
  const Buffer indices = upload(std::vector<std::int32_t>(n));
  kernels::PoolMaxParams params;
  params.x = x_buffer.ptr;
  params.y = out.ptr;
  params.indices = indices.ptr;
  params.n = n;
  params.in_d = params.out_d = params.kernel_d = params.stride_d = params.dilation_d = 1;
  params.in_h = c.in_h;
  params.in_w = c.in_w;
  params.out_h = c.out_h;
  params.out_w = c.out_w;
  params.kernel_h = c.kernel_h;
  params.kernel_w = c.kernel_w;
  params.stride_h = c.stride_h;
  params.stride_w = c.stride_w;
  params.dilation_h = c.dilation_h;
  params.dilation_w = c.dilation_w;
  params.pad_h = c.pad_h;
  params.pad_w = c.pad_w;
  params.end_pad_h = p.end_pad_h;
  params.end_pad_w = p.end_pad_w;
  params.count_pad = count_pad ? 1 : 0;
  params.column_major = column_major ? 1 : 0;
  params.power = power;
  launch("pool_" + fn + "_f32", flat_groups(n), params);
  const auto y = download<float>(out, n + 1);
  const auto chosen = download<std::int32_t>(indices, n);
  for (int e = 0; e < n; ++e) {
    const int plane = e / (c.out_h * c.out_w);
    double best = -INFINITY;
    int best_at = -1;
    double sum = 0;
    int count = 0;
    for (int kh = 0; kh < c.kernel_h; ++kh) {
      for (int kw = 0; kw < c.kernel_w; ++kw) {
        const int ih = e / c.out_w % c.out_h * c.stride_h + kh * c.dilation_h - c.pad_h;
        const int iw = e % c.out_w * c.stride_w + kw * c.dilation_w - c.pad_w;
        const bool inside = ih >= 0 && ih < c.in_h && iw >= 0 && iw < c.in_w;
        const bool padded = ih < c.in_h + p.end_pad_h && iw < c.in_w + p.end_pad_w;
        if (count_pad ? padded : inside) ++count;
        if (!inside) continue;
        const double value = x[(plane * c.in_h + ih) * c.in_w + iw];
        if (best_at < 0 || (!std::isnan(best) && (std::isnan(value) || value > best))) {
          best = value;
          best_at = plane * c.in_h * c.in_w + (column_major ? iw * c.in_h + ih : ih * c.in_w + iw);
        }
        sum += fn == "average" ? value : std::pow(std::abs(value), power);
      }
    }
    const double exact = fn == "max"       ? best
                         : fn == "average" ? sum / count
                                           : std::pow(sum, 1 / double{power});
    if (std::isnan(exact)) {
      ASSERT_TRUE(std::isnan(y[e])) << e;
    } else if (fn == "max") {
      ASSERT_EQ(y[e], exact) << e;
    } else {
      ASSERT_NEAR(y[e], exact, 3e-6) << e;
    }
    if (fn == "max") {
      ASSERT_EQ(chosen[e], best_at) << e;
    }
  }
  EXPECT_EQ(y.back(), 7.0f);
}

TEST(Pool, EveryFunctionMatchesPlainLoops) {
  const PoolCase cases[] = {
      {sized({3, 1, 1, 1, 8, 7, 0, 0, 2, 2, 2, 2}, 0, false)},
      {sized({2, 1, 1, 1, 9, 9, 0, 0, 3, 3, 2, 2, 1, 1, 1, 1}, 1, false), 1, 1},
      {sized({2, 1, 1, 1, 9, 9, 0, 0, 3, 2, 1, 1, 2, 3}, 0, false)},
      {sized({4, 1, 1, 1, 1, 30, 0, 0, 1, 5, 1, 2, 1, 1, 0, 2}, 0, false), 0, 2},
      // The last window reaches past the padding, as with ceil_mode.
      {{2, 1, 1, 1, 6, 6, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1}, 0, 0},
      {sized({5, 1, 1, 1, 7, 6, 0, 0, 7, 6}, 0, false)},
  };
  for (const PoolCase& p : cases) {
    for (bool flag : {false, true}) {
      check_pool(p, "max", false, flag, 2);
      check_pool(p, "average", flag, false, 2);
    }
    for (float power : {1.0f, 2.0f, 3.0f}) check_pool(p, "lp", false, false, power);
  }
}

}  // namespace
}  // namespace concord::gpu
