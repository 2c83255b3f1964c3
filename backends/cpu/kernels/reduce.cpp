#include "backends/cpu/kernels/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "backends/cpu/kernels/cast_internal.h"
#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/reduce.cpp"
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

// What a reduction does with one more element, and where it starts.
template <ReduceOp kOp>
struct Fold {
  static float identity() {
    if (kOp == ReduceOp::prod) return 1.0f;
    if (kOp == ReduceOp::max) return -std::numeric_limits<float>::infinity();
    if (kOp == ReduceOp::min) return std::numeric_limits<float>::infinity();
    return 0.0f;
  }
  static HWY_INLINE V term(V sum, V x) {
    switch (kOp) {
      case ReduceOp::prod:
        return hn::Mul(sum, x);
      case ReduceOp::max:
        return is_nan_select(kTag, sum, is_nan_select(kTag, x, hn::Max(sum, x)));
      case ReduceOp::min:
        return is_nan_select(kTag, sum, is_nan_select(kTag, x, hn::Min(sum, x)));
      case ReduceOp::l1:
        return hn::Add(sum, hn::Abs(x));
      case ReduceOp::sum_square:
        return hn::MulAdd(x, x, sum);
      default:
        return hn::Add(sum, x);
    }
  }
  // Of two partial results.
  static HWY_INLINE V join(V a, V b) {
    if (kOp == ReduceOp::l1 || kOp == ReduceOp::sum_square) return hn::Add(a, b);
    return term(a, b);
  }
  static float join_lanes(V v) {
    HWY_ALIGN float lanes[kLanes];
    hn::Store(v, kTag, lanes);
    // In halves: the error of a sum grows with the logarithm.
    for (std::int64_t n = kLanes / 2; n >= 1; n /= 2) {
      for (std::int64_t i = 0; i < n; ++i) {
        const float a = lanes[i];
        const float b = lanes[i + n];
        if (kOp == ReduceOp::prod) {
          lanes[i] = a * b;
        } else if (kOp == ReduceOp::max) {
          lanes[i] = a != a || a > b ? a : b;
        } else if (kOp == ReduceOp::min) {
          lanes[i] = a != a || a < b ? a : b;
        } else {
          lanes[i] = a + b;
        }
      }
    }
    return lanes[0];
  }
};

// n vectors, in halves down to blocks of 64: the error of a sum grows with log n.
template <ReduceOp kOp>
V reduce_vectors(const float* x, std::int64_t n) {
  using F = Fold<kOp>;
  if (n > 64) {
    const std::int64_t half = (n / 2 + 3) / 4 * 4;
    return F::join(reduce_vectors<kOp>(x, half), reduce_vectors<kOp>(x + half * kLanes, n - half));
  }
  const V start = hn::Set(kTag, F::identity());
  V sums[4] = {start, start, start, start};
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int j = 0; j < 4; ++j) sums[j] = F::term(sums[j], hn::LoadU(kTag, x + (i + j) * kLanes));
  }
  for (; i < n; ++i) sums[0] = F::term(sums[0], hn::LoadU(kTag, x + i * kLanes));
  return F::join(F::join(sums[0], sums[1]), F::join(sums[2], sums[3]));
}

template <ReduceOp kOp>
float reduce_run(const float* x, std::int64_t n) {
  using F = Fold<kOp>;
  const std::int64_t whole = n / kLanes;
  V total = reduce_vectors<kOp>(x, whole);
  if (const std::int64_t at = whole * kLanes; at < n) {
    HWY_ALIGN float lanes[kLanes];
    for (std::int64_t j = 0; j < kLanes; ++j) lanes[j] = at + j < n ? x[at + j] : F::identity();
    total = F::join(total, F::term(hn::Set(kTag, F::identity()), hn::Load(kTag, lanes)));
  }
  return F::join_lanes(total);
}

// Columns [begin, end) of rows: out[c] folds x[r · stride + c] over r. In blocks of 32 rows.
template <ReduceOp kOp>
void reduce_columns(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                    float* out) {
  using F = Fold<kOp>;
  const V start = hn::Set(kTag, F::identity());
  std::int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    V total = start;
    for (std::int64_t r = 0; r < rows;) {
      const std::int64_t end = std::min(rows, r + 32);
      V sum = start;
      for (; r < end; ++r) sum = F::term(sum, hn::LoadU(kTag, x + r * stride + c));
      total = F::join(total, sum);
    }
    hn::StoreU(total, kTag, out + c);
  }
  for (; c < columns; ++c) {
    V total = start;
    for (std::int64_t r = 0; r < rows;) {
      const std::int64_t end = std::min(rows, r + 32);
      V sum = start;
      for (; r < end; ++r) sum = F::term(sum, hn::Set(kTag, x[r * stride + c]));
      total = F::join(total, sum);
    }
    out[c] = hn::GetLane(total);
  }
}

}  // namespace

float fold_run(ReduceOp op, const float* x, std::int64_t n) {
  switch (op) {
    case ReduceOp::prod:
      return reduce_run<ReduceOp::prod>(x, n);
    case ReduceOp::max:
      return reduce_run<ReduceOp::max>(x, n);
    case ReduceOp::min:
      return reduce_run<ReduceOp::min>(x, n);
    case ReduceOp::l1:
      return reduce_run<ReduceOp::l1>(x, n);
    case ReduceOp::l2:
    case ReduceOp::sum_square:
      return reduce_run<ReduceOp::sum_square>(x, n);
    default:
      return reduce_run<ReduceOp::sum>(x, n);
  }
}

void fold_columns(ReduceOp op, const float* x, std::int64_t rows, std::int64_t stride,
                  std::int64_t columns, float* out) {
  switch (op) {
    case ReduceOp::prod:
      return reduce_columns<ReduceOp::prod>(x, rows, stride, columns, out);
    case ReduceOp::max:
      return reduce_columns<ReduceOp::max>(x, rows, stride, columns, out);
    case ReduceOp::min:
      return reduce_columns<ReduceOp::min>(x, rows, stride, columns, out);
    case ReduceOp::l1:
      return reduce_columns<ReduceOp::l1>(x, rows, stride, columns, out);
    case ReduceOp::l2:
    case ReduceOp::sum_square:
      return reduce_columns<ReduceOp::sum_square>(x, rows, stride, columns, out);
    default:
      return reduce_columns<ReduceOp::sum>(x, rows, stride, columns, out);
  }
}

// out[i] = exp(x[i] - top)
void exp_shifted(const float* x, float top, std::int64_t n, float* out) {
  const V shift = hn::Set(kTag, top);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(vec_exp_nonpositive(kTag, hn::Sub(hn::LoadU(kTag, x + i), shift)), kTag, out + i);
  }
  for (; i < n; ++i) out[i] = std::exp(x[i] - top);
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernels/reduce_space.h"

namespace concord::cpu {

HWY_EXPORT(fold_run);
HWY_EXPORT(fold_columns);
HWY_EXPORT(exp_shifted);

namespace {

// From the folded value to the operator's.
float finish(ReduceOp op, float folded, std::int64_t n) {
  switch (op) {
    case ReduceOp::mean:
      return static_cast<float>(double(folded) / static_cast<double>(n));
    case ReduceOp::l2:
      return std::sqrt(folded);
    case ReduceOp::log_sum:
      return std::log(folded);
    default:
      return folded;
  }
}

float log_sum_exp(const float* x, std::int64_t n, float* scratch) {
  if (n == 0) return -std::numeric_limits<float>::infinity();
  const float top = HWY_DYNAMIC_DISPATCH(fold_run)(ReduceOp::max, x, n);
  if (std::isinf(top) || std::isnan(top)) return top;
  HWY_DYNAMIC_DISPATCH(exp_shifted)(x, top, n, scratch);
  return top + std::log(HWY_DYNAMIC_DISPATCH(fold_run)(ReduceOp::sum, scratch, n));
}

// f32 with reduced axes innermost or with kept axes innermost; everything else is gathered.
void reduce_f32(ReduceOp op, const ReduceSpace& space, const float* x, float* out) {
  const std::int64_t n = space.reduced_count;
  const double nanoseconds =
      5 + static_cast<double>(n) * (op == ReduceOp::log_sum_exp ? 0.8 : 0.15);
  const bool one_run = space.reduced_rank == 1 && space.reduced_stride[0] == 1;
  const bool columns = space.kept_rank > 0 && space.reduced_rank == 1 &&
                       space.kept_stride[static_cast<std::size_t>(space.kept_rank - 1)] == 1 &&
                       op != ReduceOp::log_sum_exp;
  if (columns && !one_run) {
    const std::int64_t width = space.kept_extent[static_cast<std::size_t>(space.kept_rank - 1)];
    constexpr std::int64_t kBlock = 64;
    const std::int64_t blocks = (width + kBlock - 1) / kBlock;
    const std::int64_t outer = space.kept_count / width;
    const double block_nanoseconds = 5 + static_cast<double>(std::min(width, kBlock) * n) * 0.15;
    parallel_for(outer * blocks, static_cast<std::int64_t>(5000 / block_nanoseconds) + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t item = begin; item < end; ++item) {
                     const std::int64_t first = item / blocks * width + item % blocks * kBlock;
                     const std::int64_t count = std::min(kBlock, width - item % blocks * kBlock);
                     float* target = out + first;
                     HWY_DYNAMIC_DISPATCH(fold_columns)
                     (op, x + space.kept_offset(first), n, space.reduced_stride[0], count, target);
                     for (std::int64_t i = 0; i < count; ++i) target[i] = finish(op, target[i], n);
                   }
                 });
    return;
  }
  parallel_for(space.kept_count, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 const bool need = !one_run || op == ReduceOp::log_sum_exp;
                 auto* scratch = need ? reinterpret_cast<float*>(thread_scratch(
                                            static_cast<std::size_t>(2 * n + 1) * sizeof(float), 0))
                                      : nullptr;
                 for (std::int64_t item = begin; item < end; ++item) {
                   const float* from = x + space.kept_offset(item);
                   if (!one_run) {
                     space.for_each_reduced(
                         [&](std::int64_t i, std::int64_t offset) { scratch[i] = from[offset]; });
                     from = scratch;
                   }
                   out[item] = op == ReduceOp::log_sum_exp
                                   ? log_sum_exp(from, n, scratch + n)
                                   : finish(op, HWY_DYNAMIC_DISPATCH(fold_run)(op, from, n), n);
                 }
               });
}

}  // namespace

void reduce(ReduceOp op, Element type, std::span<const std::int64_t> shape, std::uint32_t axes,
            const void* x, void* out) {
  const ReduceSpace space(shape, axes);
  if (space.kept_count == 0) return;
  if (type == Element::f32) {
    return reduce_f32(op, space, static_cast<const float*>(x), static_cast<float*>(out));
  }
  reduce_exact(op, type, space, x, out);
}

}  // namespace concord::cpu
#endif
