#include "backends/cpu/kernels/isa.h"

#include <atomic>

#include <hwy/targets.h>

namespace concord::cpu {
namespace {

std::atomic<Isa> g_limit{Isa::avx512};

bool below_limit(Isa isa) {
  return isa <= g_limit.load(std::memory_order_relaxed);
}

Isa best_of(std::int64_t targets) {
  if ((targets & HWY_AVX3) != 0) return Isa::avx512;
  if ((targets & HWY_AVX2) != 0) return Isa::avx2;
  return Isa::baseline;
}

#if defined(__x86_64__)
bool cpu_has_bf16_dot() {
  return __builtin_cpu_supports("avx512bf16") != 0;
}
bool cpu_has_int8_dot() {
  return __builtin_cpu_supports("avx512vnni") != 0;
}
#else
bool cpu_has_bf16_dot() {
  return false;
}
bool cpu_has_int8_dot() {
  return false;
}
#endif

}  // namespace

Isa native_isa() {
  static const Isa isa = [] {
    // Before any limit is set, since that replaces what SupportedTargets gives. What the processor
    // has is of no use where the kernels were not compiled for it.
    return best_of(hwy::SupportedTargets() & HWY_TARGETS);
  }();
  return isa;
}

Isa current_isa() {
  const Isa native = native_isa();
  return below_limit(native) ? native : g_limit.load(std::memory_order_relaxed);
}

void limit_isa(Isa highest) {
  static const std::int64_t supported = (native_isa(), hwy::SupportedTargets());
  g_limit.store(highest, std::memory_order_relaxed);
  std::int64_t targets = supported;
  if (highest < Isa::avx512) targets &= ~static_cast<std::int64_t>(HWY_AVX3 | HWY_AVX3_DL);
  if (highest < Isa::avx2) targets &= ~static_cast<std::int64_t>(HWY_AVX2);
  hwy::SetSupportedTargetsForTest(targets);
}

bool has_bf16_dot() {
  static const bool has = cpu_has_bf16_dot();
  return has && current_isa() == Isa::avx512;
}

bool has_int8_dot() {
  static const bool has = cpu_has_int8_dot();
  return has && current_isa() == Isa::avx512;
}

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    default:
      return "baseline";
  }
}

}  // namespace concord::cpu
