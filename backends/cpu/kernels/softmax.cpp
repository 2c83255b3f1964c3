#include "backends/cpu/kernels/softmax.h"

#include <algorithm>
#include <cstddef>

#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/softmax.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr D kTag;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
constexpr float kInfinity = std::numeric_limits<float>::infinity();

HWY_INLINE V tail_load(const float* x, std::int64_t count, float fill) {
  HWY_ALIGN float lanes[kLanes];
  for (std::int64_t i = 0; i < kLanes; ++i) lanes[i] = i < count ? x[i] : fill;
  return hn::Load(kTag, lanes);
}
HWY_INLINE void tail_store(V v, float* x, std::int64_t count) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, kTag, lanes);
  for (std::int64_t i = 0; i < count; ++i) x[i] = lanes[i];
}

// One row. Writes scale · x + mask to out while it finds the maximum, then the exponentials while
// it sums them, then the quotients: three passes over a row that is in L1. Lanes beyond the row
// count as -inf, that is, as terms of 0.
void softmax_row(const float* x, const float* mask, std::int64_t n, float scale, bool log,
                 float* out) {
  const V factor = hn::Set(kTag, scale);
  const std::int64_t whole = n / kLanes * kLanes;
  const std::int64_t rest = n - whole;
  V highest = hn::Set(kTag, -kInfinity);
  const auto score = [&](V value, V added) HWY_ATTR {
    return mask != nullptr ? hn::MulAdd(value, factor, added) : hn::Mul(value, factor);
  };
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    const V added = mask != nullptr ? hn::LoadU(kTag, mask + i) : hn::Zero(kTag);
    const V s = score(hn::LoadU(kTag, x + i), added);
    highest = hn::Max(highest, s);
    hn::StoreU(s, kTag, out + i);
  }
  V last = hn::Set(kTag, -kInfinity);
  if (rest > 0) {
    const V added = mask != nullptr ? tail_load(mask + whole, rest, -kInfinity) : hn::Zero(kTag);
    last = score(tail_load(x + whole, rest, 0.0f), added);
    // Lanes beyond the row: whatever the mask and scale made of them, they are -inf.
    const auto inside = hn::FirstN(kTag, static_cast<std::size_t>(rest));
    last = hn::IfThenElse(inside, last, hn::Set(kTag, -kInfinity));
    highest = hn::Max(highest, last);
  }
  const V top = hn::MaxOfLanes(kTag, highest);
  V sum = hn::Zero(kTag);
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    const V shifted = hn::Sub(hn::LoadU(kTag, out + i), top);
    const V e = vec_exp_nonpositive(kTag, shifted);
    sum = hn::Add(sum, e);
    hn::StoreU(log ? shifted : e, kTag, out + i);
  }
  V last_shifted = hn::Zero(kTag);
  V last_e = hn::Zero(kTag);
  if (rest > 0) {
    last_shifted = hn::Sub(last, top);
    last_e = vec_exp_nonpositive(kTag, last_shifted);
    const auto inside = hn::FirstN(kTag, static_cast<std::size_t>(rest));
    last_e = hn::IfThenElseZero(inside, last_e);
    sum = hn::Add(sum, last_e);
  }
  sum = hn::SumOfLanes(kTag, sum);
  const V factor_out = log ? vec_log(kTag, sum) : hn::Div(hn::Set(kTag, 1.0f), sum);
  const auto finish = [&](V value) HWY_ATTR {
    return log ? hn::Sub(value, factor_out) : hn::Mul(value, factor_out);
  };
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    hn::StoreU(finish(hn::LoadU(kTag, out + i)), kTag, out + i);
  }
  if (rest > 0) tail_store(finish(log ? last_shifted : last_e), out + whole, rest);
}

}  // namespace

void softmax_rows(const SoftmaxArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* mask = args.mask != nullptr
                            ? args.mask + row / args.mask_inner % args.mask_outer * args.mask_stride
                            : nullptr;
    softmax_row(args.x + row * args.x_stride, mask, args.n, args.scale, args.log,
                args.out + row * args.out_stride);
  }
}

// Columns [begin, end) of x [n, inner], for one outer index: lanes are columns.
void softmax_columns(std::int64_t n, std::int64_t inner, std::int64_t begin, std::int64_t end,
                     const float* x, float* out, bool log) {
  for (std::int64_t c = begin; c < end; c += kLanes) {
    const std::int64_t count = std::min(kLanes, end - c);
    const auto load = [&](const float* p) HWY_ATTR {
      return count == kLanes ? hn::LoadU(kTag, p) : tail_load(p, count, 0.0f);
    };
    const auto store = [&](V v, float* p) HWY_ATTR {
      if (count == kLanes) {
        hn::StoreU(v, kTag, p);
      } else {
        tail_store(v, p, count);
      }
    };
    V top = hn::Set(kTag, -kInfinity);
    for (std::int64_t i = 0; i < n; ++i) top = hn::Max(top, load(x + i * inner + c));
    V sum = hn::Zero(kTag);
    for (std::int64_t i = 0; i < n; ++i) {
      const V shifted = hn::Sub(load(x + i * inner + c), top);
      const V e = vec_exp_nonpositive(kTag, shifted);
      sum = hn::Add(sum, e);
      store(log ? shifted : e, out + i * inner + c);
    }
    const V factor = log ? vec_log(kTag, sum) : hn::Div(hn::Set(kTag, 1.0f), sum);
    for (std::int64_t i = 0; i < n; ++i) {
      const V value = load(out + i * inner + c);
      store(log ? hn::Sub(value, factor) : hn::Mul(value, factor), out + i * inner + c);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(softmax_rows);
HWY_EXPORT(softmax_columns);

void softmax(const SoftmaxArgs& args) {
  if (args.n == 0) return;
  const auto row_nanoseconds = 20 + static_cast<double>(args.n) * 0.4;
  parallel_for(args.rows, static_cast<std::int64_t>(5000 / row_nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 HWY_DYNAMIC_DISPATCH(softmax_rows)(args, begin, end);
               });
}

void softmax_axis(std::int64_t outer, std::int64_t n, std::int64_t inner, const float* x,
                  float* out, bool log) {
  if (outer * n * inner == 0) return;
  if (inner == 1) {
    SoftmaxArgs args;
    args.rows = outer;
    args.n = n;
    args.x = x;
    args.x_stride = n;
    args.out = out;
    args.out_stride = n;
    args.log = log;
    return softmax(args);
  }
  constexpr std::int64_t kBlock = 64;
  const std::int64_t blocks = (inner + kBlock - 1) / kBlock;
  const double nanoseconds = static_cast<double>(n * std::min(inner, kBlock)) * 0.5 + 20;
  parallel_for(outer * blocks, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t offset = item / blocks * n * inner;
                   const std::int64_t column = item % blocks * kBlock;
                   HWY_DYNAMIC_DISPATCH(softmax_columns)
                   (n, inner, column, std::min(inner, column + kBlock), x + offset, out + offset,
                    log);
                 }
               });
}

}  // namespace concord::cpu
#endif
