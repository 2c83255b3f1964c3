// Reductions of types other than f32, arg-reductions and running sums: plain loops.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "backends/cpu/kernels/cast_internal.h"
#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/kernels/reduce_space.h"

namespace concord::cpu {
namespace {

template <typename T>
T lowest_of() {
  return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::lowest();
}
template <typename T>
T highest_of() {
  return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::max();
}

// Integer sums and products wrap around; in the unsigned type, so that this is defined.
template <typename T>
T add_wrapped(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  }
}
template <typename T>
T multiply_wrapped(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(std::uint64_t{static_cast<U>(a)} * static_cast<U>(b)));
  }
}
template <typename T>
T magnitude(T x) {
  if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else {
    return x < 0 ? static_cast<T>(-x) : x;
  }
}

// A mean of integers is truncated, as ONNX's reference does; other results go through f64.
template <typename T>
T reduce_one(ReduceOp op, const ReduceSpace& space, const T* x) {
  T folded{};
  const std::int64_t n = space.reduced_count;
  const auto fold = [&](T start, auto step) {
    folded = start;
    space.for_each_reduced(
        [&](std::int64_t, std::int64_t offset) { folded = step(folded, x[offset]); });
  };
  switch (op) {
    case ReduceOp::prod:
      fold(T{1}, multiply_wrapped<T>);
      return folded;
    case ReduceOp::max:
      fold(lowest_of<T>(), [](T a, T b) { return a != a || a > b ? a : b; });
      return folded;
    case ReduceOp::min:
      fold(highest_of<T>(), [](T a, T b) { return a != a || a < b ? a : b; });
      return folded;
    case ReduceOp::l1:
      fold(T{0}, [](T a, T b) { return add_wrapped(a, magnitude(b)); });
      return folded;
    case ReduceOp::l2:
    case ReduceOp::sum_square:
      fold(T{0}, [](T a, T b) { return add_wrapped(a, multiply_wrapped(b, b)); });
      return op == ReduceOp::l2 ? static_cast<T>(std::sqrt(static_cast<double>(folded))) : folded;
    case ReduceOp::log_sum_exp: {
      fold(lowest_of<T>(), [](T a, T b) { return a != a || a > b ? a : b; });
      const auto top = static_cast<double>(folded);
      if (n == 0 || std::isinf(top) || std::isnan(top)) return folded;
      double sum = 0;
      space.for_each_reduced([&](std::int64_t, std::int64_t offset) {
        sum += std::exp(static_cast<double>(x[offset]) - top);
      });
      return static_cast<T>(top + std::log(sum));
    }
    default:
      break;
  }
  fold(T{0}, add_wrapped<T>);
  if (op == ReduceOp::log_sum) return static_cast<T>(std::log(static_cast<double>(folded)));
  if (op == ReduceOp::mean) {
    if constexpr (std::is_floating_point_v<T>) {
      return folded / static_cast<T>(n);
    } else {
      return n == 0 ? T{0} : static_cast<T>(static_cast<std::int64_t>(folded) / n);
    }
  }
  return folded;
}

template <typename T>
void reduce_as(ReduceOp op, const ReduceSpace& space, const void* x, void* out) {
  const double nanoseconds = 5 + static_cast<double>(space.reduced_count) * 2;
  parallel_for(space.kept_count, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   static_cast<T*>(out)[i] =
                       reduce_one<T>(op, space, static_cast<const T*>(x) + space.kept_offset(i));
                 }
               });
}

// 16-bit floats: widened row by row, reduced as f32, rounded once.
void reduce_small_float(ReduceOp op, Element type, const ReduceSpace& space, const void* x,
                        void* out) {
  const auto* from = static_cast<const std::uint16_t*>(x);
  const std::int64_t n = space.reduced_count;
  const std::int64_t shape[1] = {n};
  auto* row = reinterpret_cast<float*>(thread_scratch(static_cast<std::size_t>(n + 1) * 4, 1));
  for (std::int64_t i = 0; i < space.kept_count; ++i) {
    const std::int64_t base = space.kept_offset(i);
    space.for_each_reduced([&](std::int64_t at, std::int64_t offset) {
      const std::uint16_t bits = from[base + offset];
      row[at] = type == Element::f16 ? to_float(Half{bits}) : to_float(BFloat16{bits});
    });
    float y = 0;
    reduce(op, Element::f32, shape, 1, row, &y);
    static_cast<std::uint16_t*>(out)[i] =
        type == Element::f16 ? to_half(y).bits : to_bfloat16(y).bits;
  }
}

template <typename T>
void arg_reduce_as(const ArgReduceArgs& args) {
  const auto* x = static_cast<const T*>(args.x);
  const auto value = [](T v) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return to_float(v);
    } else {
      return v;
    }
  };
  const double nanoseconds = 2 + static_cast<double>(args.n);
  parallel_for(args.outer * args.inner, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t item = begin; item < end; ++item) {
                   const T* column =
                       x + item / args.inner * args.n * args.inner + item % args.inner;
                   std::int64_t best = 0;
                   auto found = value(column[0]);
                   for (std::int64_t i = 1; i < args.n; ++i) {
                     const auto v = value(column[i * args.inner]);
                     const bool beyond = args.smallest ? v < found : v > found;
                     const bool first_nan = v != v && found == found;
                     const bool again = args.last && (v == found || (v != v && found != found));
                     // Nothing but another NaN displaces a NaN: comparisons with it are false.
                     if (beyond || first_nan || again) {
                       best = i;
                       found = v;
                     }
                   }
                   args.out[item] = best;
                 }
               });
}

template <typename T, typename Join>
void cumulate(std::int64_t outer, std::int64_t n, std::int64_t inner, const void* x, void* out,
              bool exclusive, bool reverse, T neutral, Join join) {
  const double nanoseconds = 2 + static_cast<double>(n) * 2;
  parallel_for(outer * inner, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t start = item / inner * n * inner + item % inner;
                   const T* from = static_cast<const T*>(x) + start;
                   T* to = static_cast<T*>(out) + start;
                   T joined = neutral;
                   for (std::int64_t step = 0; step < n; ++step) {
                     const std::int64_t at = (reverse ? n - 1 - step : step) * inner;
                     const T value = from[at];
                     if (exclusive) to[at] = joined;
                     joined = join(joined, value);
                     if (!exclusive) to[at] = joined;
                   }
                 }
               });
}

}  // namespace

bool supports_reduce(ReduceOp op, Element type) {
  switch (type) {
    case Element::f32:
    case Element::f16:
    case Element::bf16:
    case Element::f64:
      return true;
    case Element::i32:
    case Element::i64:
      return true;
    case Element::u8:
    case Element::i8:
    case Element::boolean:
      return op == ReduceOp::max || op == ReduceOp::min;
    default:
      return false;
  }
}

void reduce_exact(ReduceOp op, Element type, const ReduceSpace& space, const void* x, void* out) {
  switch (type) {
    case Element::f16:
    case Element::bf16:
      return reduce_small_float(op, type, space, x, out);
    case Element::f64:
      return reduce_as<double>(op, space, x, out);
    case Element::i32:
      return reduce_as<std::int32_t>(op, space, x, out);
    case Element::i64:
      return reduce_as<std::int64_t>(op, space, x, out);
    case Element::i8:
      return reduce_as<std::int8_t>(op, space, x, out);
    default:
      return reduce_as<std::uint8_t>(op, space, x, out);
  }
}

void arg_reduce(const ArgReduceArgs& args) {
  if (args.n == 0) return;
  switch (args.type) {
    case Element::f32:
      return arg_reduce_as<float>(args);
    case Element::f16:
      return arg_reduce_as<Half>(args);
    case Element::bf16:
      return arg_reduce_as<BFloat16>(args);
    case Element::f64:
      return arg_reduce_as<double>(args);
    case Element::i8:
      return arg_reduce_as<std::int8_t>(args);
    case Element::i32:
      return arg_reduce_as<std::int32_t>(args);
    case Element::i64:
      return arg_reduce_as<std::int64_t>(args);
    default:
      return arg_reduce_as<std::uint8_t>(args);
  }
}

void cumulative(CumulativeOp op, Element type, std::int64_t outer, std::int64_t n,
                std::int64_t inner, const void* x, void* out, bool exclusive, bool reverse) {
  const auto run = [&]<typename T>(T) {
    if (op == CumulativeOp::sum) {
      cumulate(outer, n, inner, x, out, exclusive, reverse, T{0}, add_wrapped<T>);
    } else {
      cumulate(outer, n, inner, x, out, exclusive, reverse, T{1}, multiply_wrapped<T>);
    }
  };
  switch (type) {
    case Element::f64:
      return run(double{});
    case Element::i32:
      return run(std::int32_t{});
    case Element::i64:
      return run(std::int64_t{});
    default:
      return run(float{});
  }
}

}  // namespace concord::cpu
