// Register-blocked kernels of the products of bytes, for every target of Highway.
//
// A panel holds kPanel columns of the weights, four of k together: panel[k / 4][kPanel][4], signed.
// A kernel multiplies up to kRows rows of unsigned bytes with one panel.
//
// Included once for each target, hence the guard that toggles.

#if defined(CONCORD_MATMUL_INT8_KERNELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CONCORD_MATMUL_INT8_KERNELS_INL_H
#undef CONCORD_MATMUL_INT8_KERNELS_INL_H
#else
#define CONCORD_MATMUL_INT8_KERNELS_INL_H
#endif

#include "backends/cpu/kernels/matmul_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {

using IntTag = hn::RebindToSigned<MatTag>;
using IntVec = hn::Vec<IntTag>;

struct ByteMicroArgs {
  std::int64_t quads;         // of k
  const std::byte* a;         // 4 bytes per row and quad
  std::int64_t lda;           // bytes
  const std::byte* b;         // panel
  std::int32_t* sums;         // [rows][kPanel]
  bool accumulate;            // sums hold what to start from
  const std::byte* prefetch;  // what the next panel's calls will read,
  std::int64_t lines;         // this many cache lines of it, one a quad
};

// Four unsigned bytes of a row times four signed ones of every column, added up in 32 bits.
struct QuadPortable {
  static constexpr int kRows = 4;  // two vectors per column: fewer registers for sums
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  using Wide = hn::Repartition<std::int16_t, IntTag>;
  struct Split {
    hn::Vec<Wide> even, odd;
  };
  static HWY_INLINE Split split_row(std::int32_t bytes) {
    const auto row = static_cast<std::uint32_t>(bytes);
    const IntTag d;
    const auto even = static_cast<std::int32_t>(row & 0x00ff00ffu);
    const auto odd = static_cast<std::int32_t>((row >> 8) & 0x00ff00ffu);
    return {hn::BitCast(Wide(), hn::Set(d, even)), hn::BitCast(Wide(), hn::Set(d, odd))};
  }
  static HWY_INLINE Split split_column(IntVec bytes) {
    const auto pairs = hn::BitCast(Wide(), bytes);
    return {hn::ShiftRight<8>(hn::ShiftLeft<8>(pairs)), hn::ShiftRight<8>(pairs)};
  }
  static HWY_INLINE IntVec dot(IntVec sum, const Split& row, const Split& column) {
    // On x86 this is madd: neighbouring products are added and the other sum is not touched.
    const IntTag d;
    IntVec unused = hn::Zero(d);
    sum = hn::ReorderWidenMulAccumulate(d, row.even, column.even, sum, unused);
    return hn::ReorderWidenMulAccumulate(d, row.odd, column.odd, sum, unused);
  }
#else
  struct Split {
    IntVec byte[4];
  };
  static HWY_INLINE Split split_row(std::int32_t bytes) {
    const auto row = static_cast<std::uint32_t>(bytes);
    const IntTag d;
    Split split;
    for (int i = 0; i < 4; ++i) {
      split.byte[i] = hn::Set(d, static_cast<std::int32_t>((row >> (8 * i)) & 0xffu));
    }
    return split;
  }
  static HWY_INLINE Split split_column(IntVec bytes) {
    return {{hn::ShiftRight<24>(hn::ShiftLeft<24>(bytes)),
             hn::ShiftRight<24>(hn::ShiftLeft<16>(bytes)),
             hn::ShiftRight<24>(hn::ShiftLeft<8>(bytes)), hn::ShiftRight<24>(bytes)}};
  }
  static HWY_INLINE IntVec dot(IntVec sum, const Split& row, const Split& column) {
    for (int i = 0; i < 4; ++i) sum = hn::Add(sum, hn::Mul(row.byte[i], column.byte[i]));
    return sum;
  }
#endif

  template <int kR, int kV>
  static HWY_NOINLINE void run(const ByteMicroArgs& args) {
    const IntTag d;
    IntVec sums[kR][kV];
    for (int i = 0; i < kR; ++i) {
      for (int j = 0; j < kV; ++j) {
        sums[i][j] =
            args.accumulate ? hn::LoadU(d, args.sums + i * kPanel + j * kMatLanes) : hn::Zero(d);
      }
    }
    const std::byte* a = args.a;
    const std::byte* b = args.b;
    for (std::int64_t quad = 0; quad < args.quads; ++quad, a += 4, b += kPanel * 4) {
      Split column[kV];
      for (int j = 0; j < kV; ++j) {
        column[j] =
            split_column(hn::LoadU(d, reinterpret_cast<const std::int32_t*>(b) + j * kMatLanes));
      }
      for (int i = 0; i < kR; ++i) {
        const Split row = split_row(load_a<std::int32_t>(a + i * args.lda));
        for (int j = 0; j < kV; ++j) sums[i][j] = dot(sums[i][j], row, column[j]);
      }
    }
    for (int i = 0; i < kR; ++i) {
      for (int j = 0; j < kV; ++j) {
        hn::StoreU(sums[i][j], d, args.sums + i * kPanel + j * kMatLanes);
      }
    }
  }
};

#if HWY_TARGET == HWY_AVX3
#define CONCORD_VNNI_TARGET __attribute__((target(HWY_TARGET_STR ",avx512vnni"), noinline))

// Without it GCC keeps the sums in memory beside the registers.
#define CONCORD_UNROLL _Pragma("GCC unroll 8")

// Highway 1.0.3 has no dot product of bytes.
struct QuadVnni {
  static constexpr int kRows = kMaxRows;
  template <int kR, int kV>
  static CONCORD_VNNI_TARGET void run(const ByteMicroArgs& args) {
    __m512i sums[kR][kV];
    CONCORD_UNROLL
    for (int i = 0; i < kR; ++i) {
      CONCORD_UNROLL
      for (int j = 0; j < kV; ++j) {
        sums[i][j] = args.accumulate ? _mm512_loadu_si512(args.sums + i * kPanel + j * kMatLanes)
                                     : _mm512_setzero_si512();
      }
    }
    const std::byte* a = args.a;
    const std::byte* b = args.b;
    const std::int64_t lda = args.lda;
    const std::int64_t quads = args.quads;
    const std::byte* prefetch = args.prefetch;
    const std::int64_t lines = args.lines;
    for (std::int64_t quad = 0; quad < quads; ++quad, a += 4, b += kPanel * 4) {
      if (quad < lines) __builtin_prefetch(prefetch + quad * 64, 0, 2);
      __m512i column[kV];
      CONCORD_UNROLL
      for (int j = 0; j < kV; ++j) column[j] = _mm512_loadu_si512(b + j * 64);
      CONCORD_UNROLL
      for (int i = 0; i < kR; ++i) {
        const __m512i row = _mm512_set1_epi32(load_a<std::int32_t>(a + i * lda));
        CONCORD_UNROLL
        for (int j = 0; j < kV; ++j) sums[i][j] = _mm512_dpbusd_epi32(sums[i][j], row, column[j]);
      }
    }
    CONCORD_UNROLL
    for (int i = 0; i < kR; ++i) {
      CONCORD_UNROLL
      for (int j = 0; j < kV; ++j) {
        _mm512_storeu_si512(args.sums + i * kPanel + j * kMatLanes, sums[i][j]);
      }
    }
  }
};
#endif

using ByteMicroKernel = void (*)(const ByteMicroArgs&);

// Kernel for a number of rows (1 to Quad::kRows) and of vectors (1 to kPanelVectors).
template <class Quad, int kV>
ByteMicroKernel byte_micro_for_rows(int rows) {
  if constexpr (kV <= kPanelVectors) {
    switch (rows) {
      case 1:
        return Quad::template run<1, kV>;
      case 2:
        return Quad::template run<2, kV>;
      case 3:
        return Quad::template run<3, kV>;
      case 4:
        return Quad::template run<4, kV>;
      case 5:
        return Quad::template run<(Quad::kRows < 5 ? 4 : 5), kV>;
      default:
        return Quad::template run<Quad::kRows, kV>;
    }
  } else {
    return nullptr;
  }
}

template <class Quad>
ByteMicroKernel byte_micro_kernel(int rows, int vectors) {
  switch (vectors) {
    case 1:
      return byte_micro_for_rows<Quad, 1>(rows);
    case 2:
      return byte_micro_for_rows<Quad, 2>(rows);
    case 3:
      return byte_micro_for_rows<Quad, 3>(rows);
    default:
      return byte_micro_for_rows<Quad, kPanelVectors>(rows);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#endif
