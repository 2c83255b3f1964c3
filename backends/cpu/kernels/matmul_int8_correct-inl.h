// What turns sums of products of bytes into results. Included once for each target.

#if defined(CONCORD_MATMUL_INT8_CORRECT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CONCORD_MATMUL_INT8_CORRECT_INL_H
#undef CONCORD_MATMUL_INT8_CORRECT_INL_H
#else
#define CONCORD_MATMUL_INT8_CORRECT_INL_H
#endif

#include <algorithm>

#include "backends/cpu/kernels/matmul_int8_internal.h"
#include "backends/cpu/kernels/matmul_int8_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {

// What turns a panel's sums into results, but for what depends on the row.
struct PanelCorrection {
  PanelCorrection(const ByteShare& share, std::int64_t column, std::int64_t columns)
      : adjust(share.columns + column), zeros(share.columns + share.padded_n + column) {
    const MatmulInt8Args& args = *share.args;
    if (args.scales == nullptr) return;
    std::fill_n(scales, kPanel, args.scales[0]);
    if (args.scale_stride != 0) std::copy_n(args.scales + column, columns, scales);
  }

  const std::int32_t* adjust;  // what one of the row's zero point takes away
  const std::int32_t* zeros;   // the columns' zero points
  HWY_ALIGN float scales[kPanel];
};

// Sums of a tile's row, corrected for the zero points; as f32 times the scales if there are any, in
// the same place.
inline void correct_row(const ByteShare& share, const PanelCorrection& panel, std::int32_t zero,
                        std::int32_t row_sum, int vectors, std::int32_t* sums) {
  const IntTag d;
  const MatTag df;
  const IntVec a_zero = hn::Set(d, zero);
  const IntVec a_sum = hn::Set(d, row_sum);
  for (int j = 0; j < vectors; ++j) {
    const std::int64_t at = j * kMatLanes;
    IntVec sum = hn::LoadU(d, sums + at);
    sum = hn::Sub(sum, hn::Mul(a_zero, hn::LoadU(d, panel.adjust + at)));
    if (share.has_zeros) sum = hn::Sub(sum, hn::Mul(a_sum, hn::LoadU(d, panel.zeros + at)));
    if (share.args->scales == nullptr) {
      hn::StoreU(sum, d, sums + at);
      continue;
    }
    const MatVec scale = hn::Load(df, panel.scales + at);
    hn::StoreU(hn::Mul(hn::ConvertTo(df, sum), scale), df, reinterpret_cast<float*>(sums + at));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#endif
