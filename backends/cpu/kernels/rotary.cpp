#include "backends/cpu/kernels/rotary.h"

#include <algorithm>
#include <cstddef>

#include "backends/cpu/kernels/cast_internal.h"
#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/rotary.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One head's vector; x and out may be the same. Products are rounded apart, as the formula's are.
void rotate_halves(const float* x, const float* cosine, const float* sine, std::int64_t half,
                   float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= half; i += lanes) {
    const auto a = hn::LoadU(d, x + i);
    const auto b = hn::LoadU(d, x + i + half);
    const auto c = hn::LoadU(d, cosine + i);
    const auto s = hn::LoadU(d, sine + i);
    hn::StoreU(hn::Sub(hn::Mul(a, c), hn::Mul(b, s)), d, out + i);
    hn::StoreU(hn::Add(hn::Mul(b, c), hn::Mul(a, s)), d, out + i + half);
  }
  for (; i < half; ++i) {
    const float a = x[i];
    const float b = x[i + half];
    out[i] = a * cosine[i] - b * sine[i];
    out[i + half] = b * cosine[i] + a * sine[i];
  }
}

void rotate_pairs(const float* x, const float* cosine, const float* sine, std::int64_t half,
                  float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= half; i += lanes) {
    hn::Vec<decltype(d)> a;
    hn::Vec<decltype(d)> b;
    hn::LoadInterleaved2(d, x + 2 * i, a, b);
    const auto c = hn::LoadU(d, cosine + i);
    const auto s = hn::LoadU(d, sine + i);
    hn::StoreInterleaved2(hn::Sub(hn::Mul(a, c), hn::Mul(b, s)),
                          hn::Add(hn::Mul(b, c), hn::Mul(a, s)), d, out + 2 * i);
  }
  for (; i < half; ++i) {
    const float a = x[2 * i];
    const float b = x[2 * i + 1];
    out[2 * i] = a * cosine[i] - b * sine[i];
    out[2 * i + 1] = b * cosine[i] + a * sine[i];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(rotate_halves);
HWY_EXPORT(rotate_pairs);

void rotary(const RotaryArgs& args) {
  const std::int64_t half = args.rotary_dim / 2;
  const auto size = static_cast<std::int64_t>(element_size(args.x.type));
  const bool is_f32 = args.x.type == Element::f32;
  const double nanoseconds = 5 + static_cast<double>(args.head_dim) * (is_f32 ? 0.2 : 0.5);
  const std::int64_t items = args.batch * args.seq * args.heads;
  parallel_for(
      items, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
      [&](std::int64_t begin, std::int64_t end) {
        float* wide = is_f32 ? nullptr
                             : reinterpret_cast<float*>(thread_scratch(
                                   static_cast<std::size_t>(args.head_dim) * sizeof(float), 0));
        for (std::int64_t item = begin; item < end; ++item) {
          const std::int64_t h = item % args.heads;
          const std::int64_t s = item / args.heads % args.seq;
          const std::int64_t b = item / args.heads / args.seq;
          const std::int64_t table =
              args.position_ids != nullptr
                  ? args.position_ids[b * args.position_batch_stride + s] * args.table_stride
                  : b * args.table_batch_stride + s * args.table_stride;
          const auto* x =
              static_cast<const std::byte*>(args.x.data) +
              (b * args.x.batch_stride + h * args.x.head_stride + s * args.x.seq_stride) * size;
          auto* out =
              static_cast<std::byte*>(args.out) +
              (b * args.out_batch_stride + h * args.out_head_stride + s * args.out_seq_stride) *
                  size;
          const float* from = reinterpret_cast<const float*>(x);
          float* to = reinterpret_cast<float*>(out);
          if (!is_f32) {
            convert_serial(args.x.type, x, Element::f32, wide, args.rotary_dim);
            from = to = wide;
          }
          const auto rotate = args.interleaved ? HWY_DYNAMIC_DISPATCH(rotate_pairs)
                                               : HWY_DYNAMIC_DISPATCH(rotate_halves);
          rotate(from, args.cos + table, args.sin + table, half, to);
          if (!is_f32) convert_serial(Element::f32, wide, args.x.type, out, args.rotary_dim);
          if (x != out) {
            std::copy_n(x + args.rotary_dim * size, (args.head_dim - args.rotary_dim) * size,
                        out + args.rotary_dim * size);
          }
        }
      });
}

}  // namespace concord::cpu
#endif
