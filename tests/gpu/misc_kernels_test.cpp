// Resampling, local response norm, the k best, quantisation, recurrent cells.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/kernels/recurrent.h"
#include "backends/gpu/kernels/resample.h"
#include "backends/gpu/kernels/top_k.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"

namespace concord::gpu {
namespace {

using Ints = std::vector<std::int32_t>;

// SwiftShader has none.
TEST(Kernels, NeedWideIntegersOnlyWhereTheyAreNamedAfterThem) {
  for (const Kernel* kernel : all_kernels()) {
    const KernelModule& module = *kernel->module;
    if (module.name.ends_with("_f64") || module.name.ends_with("_i64")) continue;
    EXPECT_FALSE(module.needs.i64) << module.name << ": " << kernel->name;
  }
}

TEST(Resample, BlendsByTables) {
  const int outer = 3, length = 5, out_length = 8, inner = 7, taps = 3;
  const auto x = normal(outer * length * inner, 1);
  const auto weights = normal(out_length * taps, 2);
  Ints indices = integers(out_length * taps, 0, length - 1, 3);
  indices[6 * taps] = -1;
  const Buffer x_buffer = upload(x);
  const Buffer weight_buffer = upload(weights);
  const Buffer index_buffer = upload(indices);
  const int n = outer * out_length * inner;
  const Buffer out = upload(std::vector<float>(n + 1, 7.0f));
  launch<kernels::ResampleParams>("resample_f32", flat_groups(n),
                                  {x_buffer.ptr, index_buffer.ptr, weight_buffer.ptr, out.ptr, n,
                                   length, out_length, inner, taps, -3.5f});
  const auto y = download<float>(out, n + 1);
  for (int e = 0; e < n; ++e) {
    const int o = e / inner % out_length;
    double exact = 0;
    double squares = 0;
    for (int t = 0; t < taps; ++t) {
      const int from = std::max(indices[o * taps + t], 0);
      const double product = double{weights[o * taps + t]} *
                             x[(e / inner / out_length * length + from) * inner + e % inner];
      exact += product;
      squares += product * product;
    }
    if (o == 6) {
      ASSERT_EQ(y[e], -3.5f);
    } else {
      ASSERT_LE(std::abs(y[e] - exact), dot_budget(exact, squares, taps)) << e;
    }
  }
  EXPECT_EQ(y.back(), 7.0f);
}

TEST(Resample, LocalResponseNorm) {
  const int batch = 2, channels = 9, inner = 6;
  const auto x = normal(batch * channels * inner, 1);
  const Buffer in = upload(x);
  const int n = batch * channels * inner;
  for (int size : {1, 4, 5}) {
    const Buffer out = upload(std::vector<float>(n));
    launch<kernels::ResampleLrnParams>(
        "resample_lrn_f32", flat_groups(n),
        {in.ptr, out.ptr, n, channels, inner, size, 0.25f, 1.5f, 0.75f});
    const auto y = download<float>(out, n);
    for (int e = 0; e < n; ++e) {
      const int c = e / inner % channels;
      double squares = 0;
      for (int j = std::max(c - (size - 1) / 2, 0); j <= std::min(c + size / 2, channels - 1);
           ++j) {
        squares += std::pow(double{x[e + (j - c) * inner]}, 2);
      }
      ASSERT_NEAR(y[e], x[e] / std::pow(1.5 + 0.25 * squares, 0.75), 2e-6) << e;
    }
  }
}

template <class T>
void check_top_k(const std::vector<T>& x, int lines, int length, int inner, int k, bool largest,
                 const std::string& kernel) {
  SCOPED_TRACE(testing::Message() << kernel << " k " << k << " largest " << largest);
  const Buffer in = upload(x);
  const Buffer values = upload(std::vector<T>(lines * k));
  const Buffer indices = upload(Ints(lines * k));
  launch<kernels::TopKParams>(
      kernel, rows_of_groups(lines),
      {in.ptr, values.ptr, indices.ptr, lines, length, inner, k, largest ? 1 : 0});
  const auto got_values = download<T>(values, lines * k);
  const auto got_indices = download<std::int32_t>(indices, lines * k);
  for (int line = 0; line < lines; ++line) {
    const auto at = [&](int j) {
      return double(x[(line / inner * length + j) * inner + line % inner]);
    };
    const auto above = [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; };
    Ints order(length);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return largest ? above(at(a), at(b)) : above(at(b), at(a));
    });
    for (int r = 0; r < k; ++r) {
      const int place = (line / inner * k + r) * inner + line % inner;
      ASSERT_EQ(got_indices[place], order[r]) << "line " << line << " rank " << r;
      const double value = at(order[r]);
      if (!std::isnan(value)) {
        ASSERT_EQ(got_values[place], value);
      }
    }
  }
}

TEST(TopK, FindsTheBestInOrder) {
  std::vector<float> x = normal(6 * 50, 1);
  for (int i = 0; i < 300; i += 7) x[i] = 0.5f;  // equal ones
  x[11] = NAN;
  x[12] = INFINITY;
  x[13] = -INFINITY;
  x[14] = -0.0f;
  x[15] = 0.0f;
  const Ints y = integers(6 * 50, -20, 20);
  for (const char* threads : {"8", "256"}) {
    if (std::string(threads) == "8" && test_device().properties().subgroup_size < 8) continue;
    const std::string kernel = std::string("top_k_wave") + threads;
    for (bool largest : {true, false}) {
      check_top_k(x, 6, 50, 1, 9, largest, kernel + "_f32");
      check_top_k(x, 6, 50, 3, 50, largest, kernel + "_f32");
      check_top_k(y, 6, 50, 2, 10, largest, kernel + "_i32");
    }
  }
}

TEST(Quantize, RoundsAndSaturatesPerTensorAxisAndBlock) {
  const int outer = 2, axis = 6, inner = 5;
  const int n = outer * axis * inner;
  auto x = normal(n, 1, 60.0f);
  x[0] = NAN;
  x[1] = INFINITY;
  x[2] = -INFINITY;
  x[3] = 0.75f;  // a tie at scale 0.5
  struct Case {
    int axis_extent, inner, block, blocks, scales;
  };
  for (const Case& c :
       {Case{1, n, 0, 1, 1}, {axis, inner, 0, 1, axis}, {axis, inner, 4, 2, outer * 2 * inner}}) {
    auto scales = uniform(c.scales, 0.1f, 2.0f, 2);
    scales[0] = 0.5f;
    const Ints zeros = integers(c.scales, -5, 5, 3);
    const auto place = [&](int e) {
      const int i = e / c.inner % c.axis_extent;
      return c.block == 0
                 ? i
                 : (e / c.inner / c.axis_extent * c.blocks + i / c.block) * c.inner + e % c.inner;
    };
    const Buffer in = upload(x);
    const Buffer scale_buffer = upload(scales);
    const Buffer zero_buffer = upload(zeros);
    const Buffer out = upload(Ints(n));
    launch<kernels::QuantizeParams>("quantize_f32", flat_groups(n),
                                    {in.ptr, scale_buffer.ptr, zero_buffer.ptr, out.ptr, n,
                                     c.axis_extent, c.inner, c.block, c.blocks, -128, 127});
    const Ints y = download<std::int32_t>(out, n);
    for (int e = 1; e < n; ++e) {
      // The quotient is rounded to f32 first.
      const float quotient = x[e] / scales[place(e)];
      const double whole = std::nearbyint(double{quotient}) + zeros[place(e)];
      ASSERT_EQ(y[e], std::clamp(whole, -128.0, 127.0)) << e << ": " << x[e];
    }
    const Buffer back = upload(std::vector<float>(n));
    launch<kernels::QuantizeDequantizeParams>("quantize_dequantize_i32", flat_groups(n),
                                              {out.ptr, scale_buffer.ptr, zero_buffer.ptr, back.ptr,
                                               n, c.axis_extent, c.inner, c.block, c.blocks});
    const auto z = download<float>(back, n);
    for (int e = 0; e < n; ++e) {
      ASSERT_EQ(z[e], static_cast<float>(y[e] - zeros[place(e)]) * scales[place(e)]) << e;
    }
  }
}

TEST(Quantize, RangeOfATensor) {
  struct Case {
    float low, high, scale;
    int zero;
  };
  for (const Case& c : {Case{-1.0f, 1.55f, 2.55f / 255.0f, 100},
                        {0.5f, 2.55f, 2.55f / 255.0f, 0},
                        {-5.1f, -1.0f, 5.1f / 255.0f, 255},
                        {0.0f, 0.0f, 1.0f, 0}}) {
    const Buffer low = upload(std::vector<float>{c.low});
    const Buffer high = upload(std::vector<float>{c.high});
    const Buffer scale = upload(std::vector<float>{0});
    const Buffer zero = upload(Ints{-1});
    launch<kernels::QuantizeRangeParams>("quantize_range_f32", {1, 1, 1},
                                         {low.ptr, high.ptr, scale.ptr, zero.ptr});
    EXPECT_NEAR(download<float>(scale, 1)[0], c.scale, c.scale * 1e-6);
    EXPECT_EQ(download<std::int32_t>(zero, 1)[0], c.zero);
  }
}

TEST(Quantize, IntegerProducts) {
  const int batch = 2, m = 7, n = 37, k = 13;
  const Ints a = integers(batch * m * k, -128, 127, 1);
  const Ints b = integers(k * n, 0, 255, 2);
  const Ints a_zero = integers(m, -3, 3, 3);
  const Ints b_zero = integers(n, 0, 9, 4);
  const Buffer a_buffer = upload(a);
  const Buffer b_buffer = upload(b);
  const Buffer a_zero_buffer = upload(a_zero);
  const Buffer b_zero_buffer = upload(b_zero);
  for (int step : {-1, 0, 1}) {
    const Buffer out = upload(Ints(batch * m * n));
    launch<kernels::QuantizeMatmulParams>(
        "quantize_matmul_i32", {2, 2, batch},
        {a_buffer.ptr, b_buffer.ptr, step < 0 ? DevicePtr{} : a_zero_buffer.ptr,
         step < 0 ? DevicePtr{} : b_zero_buffer.ptr, out.ptr, m, n, k, step, step, m * k, 0,
         m * n});
    const Ints c = download<std::int32_t>(out, batch * m * n);
    for (int e = 0; e < batch * m * n; ++e) {
      const int row = e / n % m;
      std::int32_t sum = 0;
      for (int p = 0; p < k; ++p) {
        const int az = step < 0 ? 0 : a_zero[row * step];
        const int bz = step < 0 ? 0 : b_zero[e % n * step];
        sum += (a[e / n * k + p] - az) * (b[p * n + e % n] - bz);
      }
      ASSERT_EQ(c[e], sum) << e;
    }
  }
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double clip_to(double x, double clip) {
  return clip > 0 ? std::clamp(x, -clip, clip) : x;
}

TEST(Recurrent, LstmStep) {
  const int batch = 3, hidden = 33, pitch = 4 * hidden + 5, y_pitch = 40;
  const auto gates = normal(batch * pitch, 1, 2.0f);
  const auto peepholes = normal(3 * hidden, 2);
  const auto h = normal(batch * hidden, 3);
  const auto c = normal(batch * hidden, 4);
  const Ints lengths = {5, 2, 9};
  const Buffer gate_buffer = upload(gates);
  const Buffer peephole_buffer = upload(peepholes);
  const Buffer length_buffer = upload(lengths);
  for (int variant = 0; variant < 4; ++variant) {
    const bool peep = (variant & 1) != 0;
    const bool coupled = (variant & 2) != 0;
    const double clip = variant == 3 ? 1.5 : 0.0;
    const Buffer h_buffer = upload(h);
    const Buffer c_buffer = upload(c);
    const Buffer y_buffer = upload(std::vector<float>(batch * y_pitch, 7.0f));
    launch<kernels::RecurrentParams>(
        "recurrent_lstm_f32", {2, 1, 1},
        {gate_buffer.ptr, peep ? peephole_buffer.ptr : DevicePtr{}, length_buffer.ptr, h_buffer.ptr,
         c_buffer.ptr, y_buffer.ptr, batch * hidden, hidden, pitch, y_pitch, 2, 0, 1, 1,
         coupled ? 1 : 0, static_cast<float>(clip)});
    const auto new_h = download<float>(h_buffer, h.size());
    const auto new_c = download<float>(c_buffer, c.size());
    const auto y = download<float>(y_buffer, batch * y_pitch);
    for (int e = 0; e < batch * hidden; ++e) {
      const int b = e / hidden;
      const int u = e % hidden;
      const auto gate = [&](int g) { return clip_to(gates[b * pitch + g * hidden + u], clip); };
      const auto p = [&](int g) { return peep ? double{peepholes[g * hidden + u]} : 0.0; };
      const double in = sigmoid(gate(0) + p(0) * c[e]);
      const double forget = coupled ? 1 - in : sigmoid(gate(2) + p(2) * c[e]);
      const double cell = forget * c[e] + in * std::tanh(gate(3));
      const double next = sigmoid(gate(1) + p(1) * cell) * std::tanh(cell);
      const bool runs = lengths[b] > 2;
      ASSERT_NEAR(new_c[e], runs ? cell : c[e], 2e-6) << e;
      ASSERT_NEAR(new_h[e], runs ? next : h[e], 2e-6) << e;
      ASSERT_NEAR(y[b * y_pitch + u], runs ? next : 0, 2e-6) << e;
    }
    EXPECT_EQ(y[hidden], 7.0f);
  }
}

TEST(Recurrent, GruStepsAndPlainCell) {
  const int batch = 2, hidden = 40, pitch = 3 * hidden;
  const int n = batch * hidden;
  const auto gates = normal(batch * pitch, 1, 2.0f);
  const auto state_gates = normal(batch * pitch, 2);
  const auto h = normal(n, 3);
  const Buffer gate_buffer = upload(gates);
  const Buffer state_buffer = upload(state_gates);
  const DevicePtr none;

  const Buffer after = upload(h);
  const Buffer y = upload(std::vector<float>(n));
  launch<kernels::RecurrentGruParams>("recurrent_gru_f32", {2, 1, 1},
                                      {gate_buffer.ptr, state_buffer.ptr, none, after.ptr, y.ptr, n,
                                       hidden, pitch, hidden, 0, 0, 1, 0.0f});
  const auto linear = download<float>(after, n);
  const auto linear_y = download<float>(y, n);

  const Buffer kept = upload(std::vector<float>(n));
  const Buffer before = upload(h);
  launch<kernels::RecurrentGruResetParams>(
      "recurrent_gru_reset_f32", {2, 1, 1},
      {gate_buffer.ptr, before.ptr, kept.ptr, n, hidden, pitch, 0, 0.0f});
  const auto kept_values = download<float>(kept, n);
  launch<kernels::RecurrentGruUpdateParams>(
      "recurrent_gru_update_f32", {2, 1, 1},
      {gate_buffer.ptr, none, before.ptr, y.ptr, n, hidden, pitch, hidden, 0, 0, 1, 0.0f});
  const auto updated = download<float>(before, n);

  const Buffer plain = upload(h);
  launch<kernels::RecurrentRnnParams>(
      "recurrent_rnn_f32", {2, 1, 1},
      {gate_buffer.ptr, none, plain.ptr, none, n, hidden, pitch, hidden, 0, 1, 0.75f});
  const auto rnn = download<float>(plain, n);
  for (int e = 0; e < n; ++e) {
    const int at = e / hidden * pitch + e % hidden;
    const double update = sigmoid(double{gates[at]} + state_gates[at]);
    const double reset = sigmoid(double{gates[at + hidden]} + state_gates[at + hidden]);
    const double candidate =
        std::tanh(gates[at + 2 * hidden] + reset * state_gates[at + 2 * hidden]);
    ASSERT_NEAR(linear[e], (1 - update) * candidate + update * h[e], 2e-6) << e;
    ASSERT_EQ(linear_y[e], linear[e]);
    ASSERT_NEAR(kept_values[e], sigmoid(gates[at + hidden]) * h[e], 1e-6) << e;
    const double z = sigmoid(gates[at]);
    ASSERT_NEAR(updated[e], (1 - z) * std::tanh(gates[at + 2 * hidden]) + z * h[e], 2e-6) << e;
    ASSERT_NEAR(rnn[e], std::tanh(clip_to(gates[at], 0.75)), 1e-6) << e;
  }
}

}  // namespace
}  // namespace concord::gpu
