// The kernel of 4-bit weights and a few rows of f32: weights become floats in registers, and only
// there. Included once for each target.

#if defined(CONCORD_MATMUL_NIBBLES_FLOAT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CONCORD_MATMUL_NIBBLES_FLOAT_INL_H
#undef CONCORD_MATMUL_NIBBLES_FLOAT_INL_H
#else
#define CONCORD_MATMUL_NIBBLES_FLOAT_INL_H
#endif

#include <algorithm>
#include <array>
#include <type_traits>

#include "backends/cpu/kernels/matmul_kernels-inl.h"
#include "backends/cpu/kernels/matmul_nibbles_internal.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {

// Lanes of nibbles, 0 to 15, as floats less a zero point. Bits above the low four are ignored.
#if HWY_TARGET == HWY_AVX3
class NibbleDecoder {
 public:
  explicit NibbleDecoder(float zero)
      : table_(hn::Sub(hn::Iota(MatTag(), 0), hn::Set(MatTag(), zero))) {}
  template <class V>
  HWY_INLINE MatVec operator()(V bits) const {
    return MatVec{_mm512_permutexvar_ps(bits.raw, table_.raw)};  // one lookup of 16 entries
  }

 private:
  MatVec table_;
};
#else
class NibbleDecoder {
 public:
  explicit NibbleDecoder(float zero) : zero_(hn::Set(MatTag(), zero)) {}
  template <class V>
  HWY_INLINE MatVec operator()(V bits) const {
    const hn::RebindToSigned<MatTag> whole;
    const auto low = hn::And(hn::BitCast(whole, bits), hn::Set(whole, 15));
    return hn::Sub(hn::ConvertTo(MatTag(), low), zero_);
  }

 private:
  MatVec zero_;
};
#endif

// sums[i][j] = Σ over blocks of scale · Σ (value − zero) · row.
struct NibbleFloat {
  static constexpr int kRows = 4;
  // Two sums for each column and row, those of the block and all before, beside the words.
  static constexpr int vectors(int rows) {
    return rows <= 2 ? kPanelVectors : std::max(1, kPanelVectors / 2);
  }

  struct Args {
    const float* a = nullptr;  // the first row
    std::int64_t lda = 0;      // elements
    std::int64_t k = 0;
    std::int64_t block = 0;
    const std::uint32_t* words = nullptr;  // the panel's
    const float* scales = nullptr;
    const std::uint8_t* zeros = nullptr;  // null: all are `zero`
    float zero = 0;
    float* sums = nullptr;  // [kRows][kPanel]
  };

  // Vectors [first, first + kV) of the panel.
  template <int kR, int kV>
  static void run(const Args& args, int first) {
    if (args.zeros == nullptr) {
      run<kR, kV, false>(args, first);
    } else {
      run<kR, kV, true>(args, first);
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
      default:
        return run<4, vectors(4)>;
    }
  }

 private:
  template <int kR, int kV, bool kZeros>
  static void run(const Args& args, int first) {
    const MatTag d;
    const NibbleDecoder decode(kZeros ? 0.0f : args.zero);
    MatVec sums[kR][kV];
    for (int i = 0; i < kR; ++i) {
      for (int j = 0; j < kV; ++j) sums[i][j] = hn::Zero(d);
    }
    for (std::int64_t begin = 0; begin < args.k; begin += args.block) {
      const std::int64_t at = begin / args.block * kPanel + first * kMatLanes;
      MatVec zero[kV];
      if constexpr (kZeros) {
        const hn::Rebind<std::uint8_t, MatTag> narrow;
        const hn::RebindToSigned<MatTag> whole;
        for (int j = 0; j < kV; ++j) {
          const auto bytes = hn::LoadU(narrow, args.zeros + at + j * kMatLanes);
          zero[j] = hn::ConvertTo(d, hn::PromoteTo(whole, bytes));
        }
      }
      // Two chains: an FMA's latency is four cycles.
      MatVec even[kR][kV];
      MatVec odd[kR][kV];
      for (int i = 0; i < kR; ++i) {
        for (int j = 0; j < kV; ++j) even[i][j] = odd[i][j] = hn::Zero(d);
      }
      const std::int64_t end = std::min(args.k, begin + args.block);
      for (std::int64_t l = begin; l < end; l += 8) {
        const float* rows[kR];
        std::array<std::array<float, 8>, kR> tail;
        for (int i = 0; i < kR; ++i) {
          rows[i] = args.a + i * args.lda + l;
          if (l + 8 <= end) continue;
          tail[i] = {};
          std::copy_n(rows[i], end - l, tail[i].begin());
          rows[i] = tail[i].data();
        }
        octet<kR, kV, kZeros>(args.words + l / 8 * kPanel + first * kMatLanes, rows, decode, zero,
                              even, odd);
      }
      for (int j = 0; j < kV; ++j) {
        const MatVec scale = hn::LoadU(d, args.scales + at + j * kMatLanes);
        for (int i = 0; i < kR; ++i) {
          sums[i][j] = hn::MulAdd(hn::Add(even[i][j], odd[i][j]), scale, sums[i][j]);
        }
      }
    }
    for (int i = 0; i < kR; ++i) {
      for (int j = 0; j < kV; ++j) {
        hn::StoreU(sums[i][j], d, args.sums + i * kPanel + (first + j) * kMatLanes);
      }
    }
  }

  // Byte b of a word holds row b in its low half and row b + 4 in its high.
  template <int kR, int kV, bool kZeros>
  static HWY_INLINE void octet(const std::uint32_t* words, const float* const (&rows)[kR],
                               const NibbleDecoder& decode, const MatVec (&zero)[kV],
                               MatVec (&even)[kR][kV], MatVec (&odd)[kR][kV]) {
    const MatTag d;
    const hn::RebindToUnsigned<MatTag> bits;
    hn::Vec<decltype(bits)> word[kV];
    for (int j = 0; j < kV; ++j) word[j] = hn::LoadU(bits, words + j * kMatLanes);
    const auto add = [&](int l, auto shift, MatVec(&into)[kR][kV]) HWY_ATTR {
      MatVec row[kR];
      for (int i = 0; i < kR; ++i) row[i] = hn::Set(d, rows[i][l]);
      for (int j = 0; j < kV; ++j) {
        MatVec weight = decode(hn::ShiftRight<decltype(shift)::value>(word[j]));
        if constexpr (kZeros) weight = hn::Sub(weight, zero[j]);
        for (int i = 0; i < kR; ++i) into[i][j] = hn::MulAdd(row[i], weight, into[i][j]);
      }
    };
    add(0, std::integral_constant<int, 0>(), even);
    add(1, std::integral_constant<int, 8>(), odd);
    add(2, std::integral_constant<int, 16>(), even);
    add(3, std::integral_constant<int, 24>(), odd);
    add(4, std::integral_constant<int, 4>(), even);
    add(5, std::integral_constant<int, 12>(), odd);
    add(6, std::integral_constant<int, 20>(), even);
    add(7, std::integral_constant<int, 28>(), odd);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#endif
