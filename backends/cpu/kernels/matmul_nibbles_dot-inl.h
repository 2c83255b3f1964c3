// The kernel of 4-bit weights and 8-bit rows, where there are dot products of bytes. Included once
// for each target.

#if defined(CONCORD_MATMUL_NIBBLES_DOT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CONCORD_MATMUL_NIBBLES_DOT_INL_H
#undef CONCORD_MATMUL_NIBBLES_DOT_INL_H
#else
#define CONCORD_MATMUL_NIBBLES_DOT_INL_H
#endif

#include "backends/cpu/kernels/matmul_int8_kernels-inl.h"
#include "backends/cpu/kernels/matmul_nibbles.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3

// sums[i][j] = Σ over blocks of row_scale · scale · Σ (value − zero) · row: the inner sum is exact.
struct NibbleDot {
  static constexpr int kRows = 6;  // with two vectors: 12 sums, 12 of the block, 4 of weights
  static constexpr int vectors(int rows) { return rows == 1 ? kPanelVectors : 2; }

  struct Args {
    const QuantisedRows* rows = nullptr;
    std::int64_t row = 0;                  // the first
    std::int64_t block_octets = 0;         // octets of k in a block
    std::int64_t octets = 0;               // of k
    const std::uint32_t* words = nullptr;  // the panel's
    const float* scales = nullptr;
    const std::uint8_t* zeros = nullptr;  // null: all are `zero`
    std::int32_t zero = 0;
    float* sums = nullptr;  // [kRows][kPanel]
  };

  // Vectors [first, first + kV) of the panel.
  template <int kR, int kV>
  static CONCORD_VNNI_TARGET void run(const Args& args, int first) {
    const QuantisedRows& rows = *args.rows;
    const std::int8_t* a = rows.values + args.row * rows.stride;
    const float* a_scales = rows.scales + args.row * rows.blocks;
    const std::int32_t* a_sums = rows.sums + args.row * rows.blocks;
    const std::uint32_t* words = args.words + first * kMatLanes;
    const __m512i mask = _mm512_set1_epi32(0x0f0f0f0f);
    __m512 sums[kR][kV];
    CONCORD_UNROLL
    for (int i = 0; i < kR; ++i) {
      CONCORD_UNROLL
      for (int j = 0; j < kV; ++j) sums[i][j] = _mm512_setzero_ps();
    }
    std::int64_t octet = 0;
    for (std::int64_t block = 0; block < rows.blocks; ++block) {
      const std::int64_t at = block * kPanel + first * kMatLanes;
      __m512i part[kR][kV];
      if (args.zeros == nullptr) {
        CONCORD_UNROLL
        for (int i = 0; i < kR; ++i) {
          const __m512i start = _mm512_set1_epi32(-args.zero * a_sums[i * rows.blocks + block]);
          CONCORD_UNROLL
          for (int j = 0; j < kV; ++j) part[i][j] = start;
        }
      } else {
        __m512i zero[kV];
        CONCORD_UNROLL
        for (int j = 0; j < kV; ++j) {
          zero[j] = _mm512_cvtepu8_epi32(
              _mm_loadu_si128(reinterpret_cast<const __m128i*>(args.zeros + at + j * kMatLanes)));
        }
        CONCORD_UNROLL
        for (int i = 0; i < kR; ++i) {
          const __m512i sum = _mm512_set1_epi32(-a_sums[i * rows.blocks + block]);
          CONCORD_UNROLL
          for (int j = 0; j < kV; ++j) part[i][j] = _mm512_mullo_epi32(sum, zero[j]);
        }
      }
      const std::int64_t end =
          octet + args.block_octets < args.octets ? octet + args.block_octets : args.octets;
      for (; octet < end; ++octet) {
        __m512i low[kV];
        __m512i high[kV];
        CONCORD_UNROLL
        for (int j = 0; j < kV; ++j) {
          const __m512i word = _mm512_loadu_si512(words + octet * kPanel + j * kMatLanes);
          low[j] = _mm512_and_si512(word, mask);
          high[j] = _mm512_and_si512(_mm512_srli_epi32(word, 4), mask);
        }
        CONCORD_UNROLL
        for (int i = 0; i < kR; ++i) {
          const auto* bytes = reinterpret_cast<const std::byte*>(a + i * rows.stride + octet * 8);
          const __m512i row_low = _mm512_set1_epi32(load_a<std::int32_t>(bytes));
          const __m512i row_high = _mm512_set1_epi32(load_a<std::int32_t>(bytes + 4));
          CONCORD_UNROLL
          for (int j = 0; j < kV; ++j) {
            part[i][j] = _mm512_dpbusd_epi32(part[i][j], low[j], row_low);
            part[i][j] = _mm512_dpbusd_epi32(part[i][j], high[j], row_high);
          }
        }
      }
      __m512 scale[kV];
      CONCORD_UNROLL
      for (int j = 0; j < kV; ++j) {
        scale[j] = _mm512_loadu_ps(args.scales + at + j * kMatLanes);
      }
      CONCORD_UNROLL
      for (int i = 0; i < kR; ++i) {
        const __m512 a_scale = _mm512_set1_ps(a_scales[i * rows.blocks + block]);
        CONCORD_UNROLL
        for (int j = 0; j < kV; ++j) {
          sums[i][j] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(part[i][j]),
                                       _mm512_mul_ps(scale[j], a_scale), sums[i][j]);
        }
      }
    }
    CONCORD_UNROLL
    for (int i = 0; i < kR; ++i) {
      CONCORD_UNROLL
      for (int j = 0; j < kV; ++j) {
        _mm512_storeu_ps(args.sums + i * kPanel + (first + j) * kMatLanes, sums[i][j]);
      }
    }
  }

  using Kernel = void (*)(const Args&, int);
  static Kernel for_rows(int rows) {
    switch (rows) {
      case 1:
        return run<1, vectors(1)>;
      case 2:
        return run<2, vectors(2)>;
      case 3:
        return run<3, vectors(3)>;
      case 4:
        return run<4, vectors(4)>;
      case 5:
        return run<5, vectors(5)>;
      default:
        return run<6, vectors(6)>;
    }
  }
};

#endif

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#endif
