#include "backends/cpu/kernels/matmul.h"

#include <algorithm>

#include "backends/cpu/kernels/isa.h"
#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/matmul.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/matmul_share-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {

void matmul_share(const MatmulShare& share) {
  switch (share.storage) {
    case Element::f16:
      return run_share<StepF16>(share, PackedPanels<StepF16>(share));
    case Element::bf16:
#if HWY_TARGET == HWY_AVX3
      if (has_bf16_dot()) return run_share<StepBf16Dot>(share, PackedPanels<StepBf16Dot>(share));
#endif
      return run_share<StepBf16Portable>(share, PackedPanels<StepBf16Portable>(share));
    default:
      return run_share<StepF32>(share, PackedPanels<StepF32>(share));
  }
}

int panel_width() {
  return kPanel;
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <stdexcept>

namespace concord::cpu {

HWY_EXPORT(matmul_share);
HWY_EXPORT(panel_width);

int matmul_panel_width() {
  return HWY_DYNAMIC_DISPATCH(panel_width)();
}

// Also reads the weights for gather_columns; keeps PackedWeights' insides out of other files.
struct MatmulAccess {
  static const std::byte* panels(const PackedWeights& w) {
    if (w.panel_ != matmul_panel_width()) {
      throw std::logic_error("weights were packed for another instruction set");
    }
    return w.buffer_.data();
  }
  static void run(const PackedWeights& w, const MatmulArgs& args) {
    const int width = matmul_panel_width();
    const std::byte* packed = panels(w);
    const std::int64_t count = (w.n() + width - 1) / width;
    const auto multiplies = static_cast<double>(args.rows) * static_cast<double>(w.n() * w.k());
    const double nanoseconds = std::max(multiplies / 50, static_cast<double>(w.bytes()) / 25) + 1;
    run_regions(cut_product(args.rows, count, nanoseconds), [&](const MatmulRegion& region) {
      HWY_DYNAMIC_DISPATCH(matmul_share)
      ({&args, packed, w.k(), w.n(), w.storage(), region.row_begin, region.row_end,
        region.panel_begin, region.panel_end});
    });
  }
};

const std::byte* packed_panels(const PackedWeights& weights) {
  return MatmulAccess::panels(weights);
}

void matmul(const PackedWeights& weights, const MatmulArgs& args) {
  if (args.rows > 0 && weights.n() > 0) MatmulAccess::run(weights, args);
}

}  // namespace concord::cpu
#endif
