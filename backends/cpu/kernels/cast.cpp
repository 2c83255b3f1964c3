#include "backends/cpu/kernels/cast.h"

#include "backends/cpu/kernels/cast_internal.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/cast.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
constexpr D kTag;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
using Tag16 = hn::Rebind<std::uint16_t, D>;
using Tag32 = hn::Rebind<std::uint32_t, D>;

}  // namespace

void bf16_to_f32(const BFloat16* src, float* dst, std::int64_t n) {
  std::int64_t i = 0;
  const auto* bits = reinterpret_cast<const std::uint16_t*>(src);
  for (; i + kLanes <= n; i += kLanes) {
    const auto wide = hn::PromoteTo(Tag32(), hn::LoadU(Tag16(), bits + i));
    hn::StoreU(hn::BitCast(kTag, hn::ShiftLeft<16>(wide)), kTag, dst + i);
  }
  for (; i < n; ++i) dst[i] = to_float(src[i]);
}

void f32_to_bf16(const float* src, BFloat16* dst, std::int64_t n) {
  std::int64_t i = 0;
  auto* bits = reinterpret_cast<std::uint16_t*>(dst);
  const Tag32 tag;
  for (; i + kLanes <= n; i += kLanes) {
    const auto x = hn::LoadU(kTag, src + i);
    const auto v = hn::BitCast(tag, x);
    const auto odd = hn::And(hn::ShiftRight<16>(v), hn::Set(tag, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(v, hn::Set(tag, 0x7fff)), odd));
    const auto quiet = hn::Or(hn::ShiftRight<16>(v), hn::Set(tag, 0x40));
    const auto nan = hn::RebindMask(tag, hn::IsNaN(x));
    hn::StoreU(hn::TruncateTo(Tag16(), hn::IfThenElse(nan, quiet, rounded)), Tag16(), bits + i);
  }
  for (; i < n; ++i) dst[i] = to_bfloat16(src[i]);
}

void f16_to_f32(const Half* src, float* dst, std::int64_t n) {
  std::int64_t i = 0;
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  const hn::Rebind<hwy::float16_t, D> half;
  for (; i + kLanes <= n; i += kLanes) {
    const auto v =
        hn::BitCast(half, hn::LoadU(Tag16(), reinterpret_cast<const std::uint16_t*>(src + i)));
    hn::StoreU(hn::PromoteTo(kTag, v), kTag, dst + i);
  }
#endif
  for (; i < n; ++i) dst[i] = to_float(src[i]);
}

void f32_to_f16(const float* src, Half* dst, std::int64_t n) {
  std::int64_t i = 0;
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  const hn::Rebind<hwy::float16_t, D> half;
  for (; i + kLanes <= n; i += kLanes) {
    const auto v = hn::DemoteTo(half, hn::LoadU(kTag, src + i));
    hn::StoreU(hn::BitCast(Tag16(), v), Tag16(), reinterpret_cast<std::uint16_t*>(dst + i));
  }
#endif
  for (; i < n; ++i) dst[i] = to_half(src[i]);
}

void fill_f32(float value, float* dst, std::int64_t n) {
  const auto v = hn::Set(kTag, value);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(v, kTag, dst + i);
  for (; i < n; ++i) dst[i] = value;
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace concord::cpu {

HWY_EXPORT(bf16_to_f32);
HWY_EXPORT(f32_to_bf16);
HWY_EXPORT(f16_to_f32);
HWY_EXPORT(f32_to_f16);
HWY_EXPORT(fill_f32);

namespace {

template <typename T>
constexpr bool is_small_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// A value as it takes part in a conversion: floats as themselves, 16-bit floats as f32.
template <typename T>
auto widen(T value) {
  if constexpr (is_small_float<T>) {
    return to_float(value);
  } else {
    return value;
  }
}

// To f32 with rounding to odd: a second rounding, to 16 bits, is then as if there were only one.
float to_float_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value) || std::isinf(nearest)) {
    return nearest;
  }
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;  // now truncated
  return std::bit_cast<float>(bits | 1u);
}

// Towards zero. What does not fit gives the lowest value of 32 or 64 bits, as x86 does, and the low
// bits of the truncated number for narrower types.
template <typename To, typename From>
To float_to_integer(From value) {
  if constexpr (sizeof(To) == 8 && std::is_unsigned_v<To>) {
    if (value >= From(0x1p63)) {
      return value < From(0x1p64) ? static_cast<To>(value) : std::numeric_limits<To>::max();
    }
  }
  constexpr From limit = From(0x1p63);
  if (!(value > -limit && value < limit)) {
    if (value == -limit) return static_cast<To>(std::numeric_limits<std::int64_t>::min());
    return sizeof(To) >= 4 && std::is_signed_v<To> ? std::numeric_limits<To>::min() : To(0);
  }
  const auto whole = static_cast<std::int64_t>(value);
  if constexpr (sizeof(To) == 4 && std::is_signed_v<To>) {
    if (whole < std::numeric_limits<To>::min() || whole > std::numeric_limits<To>::max()) {
      return std::numeric_limits<To>::min();
    }
  }
  return static_cast<To>(whole);
}

template <typename To, typename From>
To convert_one(From value) {
  const auto wide = widen(value);
  using Wide = decltype(wide);
  if constexpr (std::is_same_v<To, bool>) {
    return wide != Wide(0);
  } else if constexpr (is_small_float<To>) {
    float f = 0;
    if constexpr (std::is_same_v<std::remove_const_t<Wide>, float> || sizeof(wide) < 4) {
      f = static_cast<float>(wide);
    } else if constexpr (std::is_integral_v<Wide> && sizeof(wide) == 8) {
      // Beyond 2^53 the double is rounded too, far from any 16-bit float's tie.
      f = to_float_odd(static_cast<double>(wide));
    } else {
      f = to_float_odd(static_cast<double>(wide));
    }
    if constexpr (std::is_same_v<To, Half>) {
      return to_half(f);
    } else {
      return to_bfloat16(f);
    }
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(wide);
  } else if constexpr (std::is_floating_point_v<std::remove_const_t<Wide>>) {
    return float_to_integer<To>(wide);
  } else {
    return static_cast<To>(wide);
  }
}

template <typename To, typename From>
void convert_all(const void* src, void* dst, std::int64_t n) {
  const auto* from = static_cast<const From*>(src);
  auto* to = static_cast<To*>(dst);
  for (std::int64_t i = 0; i < n; ++i) to[i] = convert_one<To>(from[i]);
}

using Convert = void (*)(const void*, void*, std::int64_t);

template <typename From>
Convert convert_from(Element to) {
  switch (to) {
    case Element::f32:
      return convert_all<float, From>;
    case Element::f16:
      return convert_all<Half, From>;
    case Element::bf16:
      return convert_all<BFloat16, From>;
    case Element::f64:
      return convert_all<double, From>;
    case Element::i8:
      return convert_all<std::int8_t, From>;
    case Element::i16:
      return convert_all<std::int16_t, From>;
    case Element::i32:
      return convert_all<std::int32_t, From>;
    case Element::i64:
      return convert_all<std::int64_t, From>;
    case Element::u8:
      return convert_all<std::uint8_t, From>;
    case Element::u16:
      return convert_all<std::uint16_t, From>;
    case Element::u32:
      return convert_all<std::uint32_t, From>;
    case Element::u64:
      return convert_all<std::uint64_t, From>;
    case Element::boolean:
      return convert_all<bool, From>;
  }
  return nullptr;
}

Convert find_convert(Element from, Element to) {
  switch (from) {
    case Element::f32:
      return convert_from<float>(to);
    case Element::f16:
      return convert_from<Half>(to);
    case Element::bf16:
      return convert_from<BFloat16>(to);
    case Element::f64:
      return convert_from<double>(to);
    case Element::i8:
      return convert_from<std::int8_t>(to);
    case Element::i16:
      return convert_from<std::int16_t>(to);
    case Element::i32:
      return convert_from<std::int32_t>(to);
    case Element::i64:
      return convert_from<std::int64_t>(to);
    case Element::boolean:  // read as bytes: any but 0 and 1 would be undefined as bool
    case Element::u8:
      return convert_from<std::uint8_t>(to);
    case Element::u16:
      return convert_from<std::uint16_t>(to);
    case Element::u32:
      return convert_from<std::uint32_t>(to);
    case Element::u64:
      return convert_from<std::uint64_t>(to);
  }
  return nullptr;
}

template <typename T>
void load_strided(const void* src, std::int64_t stride, float* dst, std::int64_t n) {
  const auto* from = static_cast<const T*>(src);
  for (std::int64_t i = 0; i < n; ++i) dst[i] = convert_one<float>(from[i * stride]);
}

}  // namespace

void convert_serial(Element from, const void* src, Element to, void* dst, std::int64_t n) {
  if (from == to) {
    std::memmove(dst, src, static_cast<std::size_t>(n) * element_size(from));
  } else if (from == Element::bf16 && to == Element::f32) {
    HWY_DYNAMIC_DISPATCH(bf16_to_f32)
    (static_cast<const BFloat16*>(src), static_cast<float*>(dst), n);
  } else if (from == Element::f16 && to == Element::f32) {
    HWY_DYNAMIC_DISPATCH(f16_to_f32)(static_cast<const Half*>(src), static_cast<float*>(dst), n);
  } else if (from == Element::f32 && to == Element::bf16) {
    HWY_DYNAMIC_DISPATCH(f32_to_bf16)
    (static_cast<const float*>(src), static_cast<BFloat16*>(dst), n);
  } else if (from == Element::f32 && to == Element::f16) {
    HWY_DYNAMIC_DISPATCH(f32_to_f16)(static_cast<const float*>(src), static_cast<Half*>(dst), n);
  } else {
    find_convert(from, to)(src, dst, n);
  }
}

void load_floats(Element from, const void* src, std::int64_t stride, float* dst, std::int64_t n) {
  if (stride == 1) return convert_serial(from, src, Element::f32, dst, n);
  if (stride == 0) {
    float value = 0;
    convert_serial(from, src, Element::f32, &value, 1);
    return HWY_DYNAMIC_DISPATCH(fill_f32)(value, dst, n);
  }
  switch (from) {
    case Element::f32:
      return load_strided<float>(src, stride, dst, n);
    case Element::f16:
      return load_strided<Half>(src, stride, dst, n);
    case Element::bf16:
      return load_strided<BFloat16>(src, stride, dst, n);
    default: {
      const auto* bytes = static_cast<const std::byte*>(src);
      const auto step = stride * static_cast<std::int64_t>(element_size(from));
      const Convert one = find_convert(from, Element::f32);
      for (std::int64_t i = 0; i < n; ++i) one(bytes + i * step, dst + i, 1);
    }
  }
}

void convert(Element from, const void* src, Element to, void* dst, std::int64_t n) {
  const auto from_size = static_cast<std::int64_t>(element_size(from));
  const auto to_size = static_cast<std::int64_t>(element_size(to));
  const std::int64_t grain = 16384;
  // In place, a thread must not write what another has still to read.
  if (src == dst && from_size != to_size) return convert_serial(from, src, to, dst, n);
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    convert_serial(from, static_cast<const std::byte*>(src) + begin * from_size, to,
                   static_cast<std::byte*>(dst) + begin * to_size, end - begin);
  });
}

}  // namespace concord::cpu
#endif
