// Register-blocked kernels of the matrix products, for every target of Highway.
//
// A panel holds kPanel columns of the right operand, k by k: panel[k][kPanel]; for bf16 pairs of k
// stand together, panel[k / 2][kPanel][2], as the bf16 dot product wants them. A kernel multiplies
// up to kMaxRows rows of the left operand, row-major, with one panel; its sums stay in registers.
//
// Included once for each target, hence the guard that toggles.

#if defined(CONCORD_MATMUL_KERNELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CONCORD_MATMUL_KERNELS_INL_H
#undef CONCORD_MATMUL_KERNELS_INL_H
#else
#define CONCORD_MATMUL_KERNELS_INL_H
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using MatTag = hn::ScalableTag<float>;
using MatVec = hn::Vec<MatTag>;
constexpr int kMatLanes = static_cast<int>(hn::MaxLanes(MatTag()));

// 24 of 32 registers, or 12 of 16, hold sums.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_SCALAR
constexpr int kPanelVectors = 4;
#else
constexpr int kPanelVectors = 2;
#endif
constexpr int kPanel = kPanelVectors * kMatLanes;
constexpr int kMaxRows = 6;

struct MicroArgs {
  std::int64_t steps;         // of k, or of pairs of k
  const std::byte* a;         // 4 bytes per row and step
  std::int64_t lda;           // bytes between rows
  const std::byte* b;         // panel
  std::int64_t b_step;        // bytes between steps
  float* sums;                // [rows][ld_sums]
  std::int64_t ld_sums;       // elements
  bool accumulate;            // sums hold what to start from
  const std::byte* prefetch;  // what the next call will read,
  int prefetch_lines;         // this many cache lines every 4 steps
};

// Four bytes of a row: an f32, or two bf16.
template <typename T>
HWY_INLINE T load_a(const std::byte* a) {
  T value;
  std::memcpy(&value, a, sizeof(value));
  return value;
}

struct StepF32 {
  static constexpr int kRows = kMaxRows;
  static constexpr int kDepth = 1;  // of k in a step
  static constexpr int kBytes = 4;  // of a panel's column in a step
  template <int kR, int kV>
  static HWY_INLINE void run(const std::byte* a, std::int64_t lda, const std::byte* b,
                             MatVec (&sums)[kR][kV]) {
    const MatTag d;
    MatVec column[kV];
    for (int j = 0; j < kV; ++j) {
      column[j] = hn::LoadU(d, reinterpret_cast<const float*>(b) + j * kMatLanes);
    }
    for (int i = 0; i < kR; ++i) {
      const MatVec row = hn::Set(d, load_a<float>(a + i * lda));
      for (int j = 0; j < kV; ++j) sums[i][j] = hn::MulAdd(row, column[j], sums[i][j]);
    }
  }
};

// Weights in f16, converted as they are loaded.
struct StepF16 {
  static constexpr int kRows = kMaxRows;
  static constexpr int kDepth = 1;
  static constexpr int kBytes = 2;
  template <int kR, int kV>
  static HWY_INLINE void run(const std::byte* a, std::int64_t lda, const std::byte* b,
                             MatVec (&sums)[kR][kV]) {
    const MatTag d;
    MatVec column[kV];
    for (int j = 0; j < kV; ++j) {
      const hn::Rebind<hwy::float16_t, MatTag> half;
      const auto* values = reinterpret_cast<const hwy::float16_t*>(b) + j * kMatLanes;
      column[j] = hn::PromoteTo(d, hn::LoadU(half, values));
    }
    for (int i = 0; i < kR; ++i) {
      const MatVec row = hn::Set(d, load_a<float>(a + i * lda));
      for (int j = 0; j < kV; ++j) sums[i][j] = hn::MulAdd(row, column[j], sums[i][j]);
    }
  }
};

// bf16 by shifts and f32 arithmetic, where there is no dot product.
struct StepBf16Portable {
  static constexpr int kRows = 4;  // two vectors per column: fewer registers for sums
  static constexpr int kDepth = 2;
  static constexpr int kBytes = 4;
  template <int kR, int kV>
  static HWY_INLINE void run(const std::byte* a, std::int64_t lda, const std::byte* b,
                             MatVec (&sums)[kR][kV]) {
    const MatTag d;
    const hn::Rebind<std::uint32_t, MatTag> bits;
    const auto high = hn::Set(bits, 0xffff0000u);
    MatVec even[kV];
    MatVec odd[kV];
    for (int j = 0; j < kV; ++j) {
      const auto pair = hn::LoadU(bits, reinterpret_cast<const std::uint32_t*>(b) + j * kMatLanes);
      even[j] = hn::BitCast(d, hn::ShiftLeft<16>(pair));
      odd[j] = hn::BitCast(d, hn::And(pair, high));
    }
    for (int i = 0; i < kR; ++i) {
      const auto pair = hn::Set(bits, load_a<std::uint32_t>(a + i * lda));
      const MatVec row_even = hn::BitCast(d, hn::ShiftLeft<16>(pair));
      const MatVec row_odd = hn::BitCast(d, hn::And(pair, high));
      for (int j = 0; j < kV; ++j) {
        sums[i][j] = hn::MulAdd(row_odd, odd[j], hn::MulAdd(row_even, even[j], sums[i][j]));
      }
    }
  }
};

template <class Step, int kR, int kV>
HWY_INLINE void micro_body(const MicroArgs& args) {
  const MatTag d;
  MatVec sums[kR][kV];
  for (int i = 0; i < kR; ++i) {
    for (int j = 0; j < kV; ++j) {
      sums[i][j] = args.accumulate ? hn::LoadU(d, args.sums + i * args.ld_sums + j * kMatLanes)
                                   : hn::Zero(d);
    }
  }
  const std::byte* a = args.a;
  const std::byte* b = args.b;
  const std::byte* prefetch = args.prefetch;
  const std::int64_t lda = args.lda;
  const std::int64_t b_step = args.b_step;
  std::int64_t step = 0;
  for (; step + 4 <= args.steps; step += 4) {
    for (int line = 0; line < args.prefetch_lines; ++line, prefetch += 64) {
      __builtin_prefetch(prefetch, 0, 2);
    }
    Step::template run<kR, kV>(a, lda, b, sums);
    Step::template run<kR, kV>(a + 4, lda, b + b_step, sums);
    Step::template run<kR, kV>(a + 8, lda, b + 2 * b_step, sums);
    Step::template run<kR, kV>(a + 12, lda, b + 3 * b_step, sums);
    a += 16;
    b += 4 * b_step;
  }
  for (; step < args.steps; ++step, a += 4, b += b_step) {
    Step::template run<kR, kV>(a, lda, b, sums);
  }
  for (int i = 0; i < kR; ++i) {
    for (int j = 0; j < kV; ++j) {
      hn::StoreU(sums[i][j], d, args.sums + i * args.ld_sums + j * kMatLanes);
    }
  }
}

template <class Step, int kR, int kV>
HWY_NOINLINE void micro(const MicroArgs& args) {
  micro_body<Step, kR, kV>(args);
}

#if HWY_TARGET == HWY_AVX3
#define CONCORD_BF16_TARGET __attribute__((target(HWY_TARGET_STR ",avx512bf16"), noinline))

// Highway 1.0.3 has no bf16 dot product. Same loop as micro_body: a function with another target
// cannot be inlined into it.
template <int kR, int kV>
CONCORD_BF16_TARGET void micro_bf16_dot(const MicroArgs& args) {
  __m512 sums[kR][kV];
  for (int i = 0; i < kR; ++i) {
    for (int j = 0; j < kV; ++j) {
      sums[i][j] = args.accumulate ? _mm512_loadu_ps(args.sums + i * args.ld_sums + j * kMatLanes)
                                   : _mm512_setzero_ps();
    }
  }
  const std::byte* a = args.a;
  const std::byte* b = args.b;
  const std::byte* prefetch = args.prefetch;
  const std::int64_t lda = args.lda;
  const std::int64_t b_step = args.b_step;
  const std::int64_t steps = args.steps;
  std::int64_t step = 0;
  while (step < steps) {
    if (step + 4 <= steps) {
      for (int line = 0; line < args.prefetch_lines; ++line, prefetch += 64) {
        __builtin_prefetch(prefetch, 0, 2);
      }
    }
    const std::int64_t until = step + 4 < steps ? step + 4 : steps;
    for (; step < until; ++step, a += 4, b += b_step) {
      __m512bh column[kV];
      for (int j = 0; j < kV; ++j) column[j] = (__m512bh)_mm512_loadu_si512(b + j * 64);
      for (int i = 0; i < kR; ++i) {
        const auto row = (__m512bh)_mm512_set1_epi32(load_a<std::int32_t>(a + i * lda));
        for (int j = 0; j < kV; ++j) sums[i][j] = _mm512_dpbf16_ps(sums[i][j], row, column[j]);
      }
    }
  }
  for (int i = 0; i < kR; ++i) {
    for (int j = 0; j < kV; ++j) {
      _mm512_storeu_ps(args.sums + i * args.ld_sums + j * kMatLanes, sums[i][j]);
    }
  }
}

struct StepBf16Dot {
  static constexpr int kRows = kMaxRows;
  static constexpr int kDepth = 2;
  static constexpr int kBytes = 4;
};
#endif

using MicroKernel = void (*)(const MicroArgs&);

// Kernel for a number of rows (1 to Step::kRows) and of vectors (1 to kPanelVectors).
template <class Step, int kV>
MicroKernel micro_for_rows(int rows) {
  if constexpr (kV <= kPanelVectors) {
#if HWY_TARGET == HWY_AVX3
    if constexpr (std::is_same_v<Step, StepBf16Dot>) {
      switch (rows) {
        case 1:
          return micro_bf16_dot<1, kV>;
        case 2:
          return micro_bf16_dot<2, kV>;
        case 3:
          return micro_bf16_dot<3, kV>;
        case 4:
          return micro_bf16_dot<4, kV>;
        case 5:
          return micro_bf16_dot<5, kV>;
        default:
          return micro_bf16_dot<6, kV>;
      }
    } else  // NOLINT
#endif
    {
      switch (rows) {
        case 1:
          return micro<Step, 1, kV>;
        case 2:
          return micro<Step, 2, kV>;
        case 3:
          return micro<Step, 3, kV>;
        case 4:
          return micro<Step, 4, kV>;
        case 5:
          return micro < Step, Step::kRows < 5 ? 4 : 5, kV > ;
        default:
          return micro<Step, Step::kRows, kV>;
      }
    }
  } else {
    return nullptr;
  }
}

template <class Step>
MicroKernel micro_kernel(int rows, int vectors) {
  switch (vectors) {
    case 1:
      return micro_for_rows<Step, 1>(rows);
    case 2:
      return micro_for_rows<Step, 2>(rows);
    case 3:
      return micro_for_rows<Step, 3>(rows);
    default:
      return micro_for_rows<Step, kPanelVectors>(rows);
  }
}

// Cuts a number of rows into blocks of nearly equal height, none above Step::kRows.
struct RowBlocks {
  std::int64_t count, base, extra;
  RowBlocks(std::int64_t rows, std::int64_t highest)
      : count((rows + highest - 1) / highest),
        base(count > 0 ? rows / count : 0),
        extra(count > 0 ? rows % count : 0) {}
  int height(std::int64_t block) const { return static_cast<int>(base + (block < extra ? 1 : 0)); }
};

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#endif
