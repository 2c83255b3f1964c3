#include "backends/cpu/kernels/quantise.h"

#include <algorithm>
#include <array>

#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/quantise.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(FloatTag()));

// Before the integer: whole numbers within the range.
HWY_INLINE Floats quantised(Floats x, Floats scale, Floats zero, Floats low, Floats high) {
  const Floats q = hn::Add(hn::Round(hn::Div(x, scale)), zero);
  const Floats above = hn::IfThenElse(hn::Ge(q, low), q, low);
  return hn::IfThenElse(hn::Le(above, high), above, high);
}

template <typename Byte>
void quantise_as(const float* x, std::int64_t count, float scale, std::int32_t zero, Byte* y) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> wide;
  const hn::Rebind<Byte, FloatTag> narrow;
  const Floats scales = hn::Set(d, scale);
  const Floats zeros = hn::Set(d, static_cast<float>(zero));
  const Floats low = hn::Set(d, static_cast<float>(hwy::LowestValue<Byte>()));
  const Floats high = hn::Set(d, static_cast<float>(hwy::HighestValue<Byte>()));
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Floats q = quantised(hn::LoadU(d, x + i), scales, zeros, low, high);
    hn::StoreU(hn::DemoteTo(narrow, hn::ConvertTo(wide, q)), narrow, y + i);
  }
  if (i == count) return;
  HWY_ALIGN float part[kLanes] = {};
  HWY_ALIGN std::int32_t results[kLanes];
  std::copy(x + i, x + count, part);
  hn::Store(hn::ConvertTo(wide, quantised(hn::Load(d, part), scales, zeros, low, high)), wide,
            results);
  for (std::int64_t lane = 0; i + lane < count; ++lane) {
    y[i + lane] = static_cast<Byte>(results[lane]);
  }
}

}  // namespace

void quantise_share(const float* x, std::int64_t count, float scale, std::int32_t zero,
                    bool is_signed, std::byte* y) {
  if (is_signed) return quantise_as(x, count, scale, zero, reinterpret_cast<std::int8_t*>(y));
  quantise_as(x, count, scale, zero, reinterpret_cast<std::uint8_t*>(y));
}

Extremes extremes_share(const float* x, std::int64_t count) {
  const FloatTag d;
  Floats low = hn::Zero(d);
  Floats high = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Floats value = hn::LoadU(d, x + i);
    low = hn::IfThenElse(hn::Lt(value, low), value, low);
    high = hn::IfThenElse(hn::Gt(value, high), value, high);
  }
  Extremes result{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
  for (; i < count; ++i) {
    if (x[i] < result.low) result.low = x[i];
    if (x[i] > result.high) result.high = x[i];
  }
  return result;
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(quantise_share);
HWY_EXPORT(extremes_share);

namespace {
// Elements whose pass is worth another thread.
constexpr std::int64_t kGrain = 16384;
constexpr std::int64_t kMostPieces = 64;
}  // namespace

Extremes extremes(const float* x, std::int64_t count) {
  std::array<Extremes, kMostPieces> parts{};
  const std::int64_t pieces = std::clamp<std::int64_t>(
      std::min<std::int64_t>(current_threads(), count / kGrain), 1, kMostPieces);
  parallel_tasks(static_cast<int>(pieces), [&](int piece) {
    const std::int64_t begin = count * piece / pieces;
    const std::int64_t end = count * (piece + 1) / pieces;
    parts[static_cast<std::size_t>(piece)] =
        HWY_DYNAMIC_DISPATCH(extremes_share)(x + begin, end - begin);
  });
  Extremes all;
  for (const Extremes& part : parts) {
    all.low = std::min(all.low, part.low);
    all.high = std::max(all.high, part.high);
  }
  return all;
}

void quantise_bytes(const float* x, std::int64_t count, float scale, std::int32_t zero,
                    bool is_signed, std::byte* y) {
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    quantise_serial(x + begin, end - begin, scale, zero, is_signed, y + begin);
  });
}

void quantise_serial(const float* x, std::int64_t count, float scale, std::int32_t zero,
                     bool is_signed, std::byte* y) {
  HWY_DYNAMIC_DISPATCH(quantise_share)(x, count, scale, zero, is_signed, y);
}

}  // namespace concord::cpu
#endif
