#include "backends/cpu/kernels/norm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/norm.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr D kTag;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

// Σ f(x[i]), in four vectors of partial sums: at least 4 (scalar) to 64 (AVX-512) chains.
template <class F>
HWY_INLINE float blocked_sum(const float* x, std::int64_t n, F f) {
  V sums[4] = {hn::Zero(kTag), hn::Zero(kTag), hn::Zero(kTag), hn::Zero(kTag)};
  std::int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int j = 0; j < 4; ++j) sums[j] = f(hn::LoadU(kTag, x + i + j * kLanes), sums[j]);
  }
  for (; i + kLanes <= n; i += kLanes) sums[0] = f(hn::LoadU(kTag, x + i), sums[0]);
  if (i < n) {
    HWY_ALIGN float lanes[kLanes] = {};
    HWY_ALIGN float mask[kLanes] = {};
    for (std::int64_t j = 0; i + j < n; ++j) {
      lanes[j] = x[i + j];
      mask[j] = 1.0f;
    }
    // A term that the padding adds is dropped again.
    const V added = f(hn::Load(kTag, lanes), hn::Zero(kTag));
    sums[1] =
        hn::Add(sums[1], hn::IfThenElseZero(hn::Ne(hn::Load(kTag, mask), hn::Zero(kTag)), added));
  }
  return hn::GetLane(
      hn::SumOfLanes(kTag, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}

// out[i] = f(i, load) vector by vector, where load(p) gives p[i...] or, at the end, its rest.
template <class F>
HWY_INLINE void for_each_vector(std::int64_t n, float* out, F f) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(f([i](const float* p) HWY_ATTR { return hn::LoadU(kTag, p + i); }), kTag, out + i);
  }
  if (i == n) return;
  HWY_ALIGN float lanes[kLanes];
  const V y = f([i, n](const float* p) HWY_ATTR {
    HWY_ALIGN float part[kLanes] = {};
    for (std::int64_t j = 0; i + j < n; ++j) part[j] = p[i + j];
    return hn::Load(kTag, part);
  });
  hn::Store(y, kTag, lanes);
  for (std::int64_t j = 0; i + j < n; ++j) out[i + j] = lanes[j];
}

// The row to normalise: x itself, or the sum, written where it is wanted or to scratch.
const float* sum_row(const NormArgs& args, std::int64_t row, float* scratch) {
  const float* x = args.x + row * args.x_stride;
  const float* residual =
      args.residual != nullptr ? args.residual + row * args.residual_stride : nullptr;
  if (residual == nullptr && args.bias == nullptr && args.sum == nullptr) return x;
  float* sum = args.sum != nullptr ? args.sum + row * args.sum_stride : scratch;
  const float* bias = args.bias;
  for_each_vector(args.n, sum, [&](auto load) HWY_ATTR {
    V s = load(x);
    if (bias != nullptr) s = hn::Add(s, load(bias));
    if (residual != nullptr) s = hn::Add(s, load(residual));
    return s;
  });
  return sum;
}

void write_row(const NormArgs& args, std::int64_t row, const float* s, float mean, float inverse) {
  const V centre = hn::Set(kTag, mean);
  const V factor = hn::Set(kTag, inverse);
  const float* gamma = args.gamma;
  const float* beta = args.beta;
  for_each_vector(args.n, args.out + row * args.out_stride, [&](auto load) HWY_ATTR {
    V y = hn::Mul(hn::Sub(load(s), centre), factor);
    if (gamma != nullptr && beta != nullptr) return hn::MulAdd(y, load(gamma), load(beta));
    if (gamma != nullptr) y = hn::Mul(y, load(gamma));
    if (beta != nullptr) y = hn::Add(y, load(beta));
    return y;
  });
}

float squares_about(const float* s, std::int64_t n, float mean) {
  const V centre = hn::Set(kTag, mean);
  return blocked_sum(s, n, [centre](V x, V sum) HWY_ATTR {
    const V c = hn::Sub(x, centre);
    return hn::MulAdd(c, c, sum);
  });
}

float plain_sum(const float* s, std::int64_t n) {
  return blocked_sum(s, n, [](V x, V sum) HWY_ATTR { return hn::Add(sum, x); });
}

// 1 / sqrt(mean square + epsilon), in f64 so that only the sums' rounding counts.
float inverse_root(float squares, std::int64_t n, float epsilon) {
  const double variance = static_cast<double>(squares) / static_cast<double>(n);
  return static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(epsilon)));
}

}  // namespace

void layer_norm_rows(const NormArgs& args, std::int64_t begin, std::int64_t end, float* scratch) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* s = sum_row(args, row, scratch);
    const auto mean =
        static_cast<float>(static_cast<double>(plain_sum(s, args.n)) / static_cast<double>(args.n));
    const float inverse = inverse_root(squares_about(s, args.n, mean), args.n, args.epsilon);
    if (args.mean != nullptr) args.mean[row] = mean;
    if (args.inverse != nullptr) args.inverse[row] = inverse;
    write_row(args, row, s, mean, inverse);
  }
}

void rms_norm_rows(const NormArgs& args, std::int64_t begin, std::int64_t end, float* scratch) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* s = sum_row(args, row, scratch);
    const float inverse = inverse_root(squares_about(s, args.n, 0.0f), args.n, args.epsilon);
    if (args.inverse != nullptr) args.inverse[row] = inverse;
    write_row(args, row, s, 0.0f, inverse);
  }
}

// One group: count channels of spatial elements each.
void normalise_group(std::int64_t count, std::int64_t spatial, const float* x, const float* gamma,
                     const float* beta, float epsilon, float* out) {
  const std::int64_t n = count * spatial;
  // Sums channel by channel, then over channels in f64: a group can be millions of elements.
  double sum = 0;
  for (std::int64_t c = 0; c < count; ++c) {
    sum += static_cast<double>(plain_sum(x + c * spatial, spatial));
  }
  const auto mean = static_cast<float>(sum / static_cast<double>(n));
  double squares = 0;
  for (std::int64_t c = 0; c < count; ++c) {
    squares += static_cast<double>(squares_about(x + c * spatial, spatial, mean));
  }
  const double root = std::sqrt(squares / static_cast<double>(n) + static_cast<double>(epsilon));
  const V centre = hn::Set(kTag, mean);
  for (std::int64_t c = 0; c < count; ++c) {
    const double weight = gamma != nullptr ? static_cast<double>(gamma[c]) : 1.0;
    const V factor = hn::Set(kTag, static_cast<float>(weight / root));
    const V shift = hn::Set(kTag, beta != nullptr ? beta[c] : 0.0f);
    const float* from = x + c * spatial;
    for_each_vector(spatial, out + c * spatial, [&](auto load) HWY_ATTR {
      return hn::MulAdd(hn::Sub(load(from), centre), factor, shift);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(layer_norm_rows);
HWY_EXPORT(rms_norm_rows);
HWY_EXPORT(normalise_group);

namespace {

template <typename Rows>
void over_rows(const NormArgs& args, Rows rows) {
  if (args.n == 0) return;
  const double nanoseconds = 20 + static_cast<double>(args.n) * 0.3;
  parallel_for(args.rows, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 const auto bytes = static_cast<std::size_t>(args.n) * sizeof(float);
                 const bool needed =
                     args.sum == nullptr && (args.residual != nullptr || args.bias != nullptr);
                 auto* scratch =
                     needed ? reinterpret_cast<float*>(thread_scratch(bytes, 0)) : nullptr;
                 rows(args, begin, end, scratch);
               });
}

}  // namespace

void layer_norm(const NormArgs& args) {
  over_rows(args, HWY_DYNAMIC_DISPATCH(layer_norm_rows));
}
void rms_norm(const NormArgs& args) {
  over_rows(args, HWY_DYNAMIC_DISPATCH(rms_norm_rows));
}

void group_norm(std::int64_t batch, std::int64_t channels, std::int64_t spatial,
                std::int64_t groups, const float* x, const float* gamma, const float* beta,
                float epsilon, float* out) {
  if (batch * channels * spatial == 0 || groups == 0) return;
  const std::int64_t count = channels / groups;
  const double nanoseconds = 20 + static_cast<double>(count * spatial) * 0.3;
  parallel_for(batch * groups, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t channel = item % groups * count;
                   const std::int64_t offset = (item / groups * channels + channel) * spatial;
                   HWY_DYNAMIC_DISPATCH(normalise_group)
                   (count, spatial, x + offset, gamma != nullptr ? gamma + channel : nullptr,
                    beta != nullptr ? beta + channel : nullptr, epsilon, out + offset);
                 }
               });
}

}  // namespace concord::cpu
#endif
