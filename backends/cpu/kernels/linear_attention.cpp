#include "backends/cpu/kernels/linear_attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/linear_attention.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `state` [depth, columns], columns a multiple of the lanes, as are the rows of the others.

// Each row times its factor (null: 1), and known = stateᵀ·k of the result (k null: left out).
void decay_and_recall(float* state, std::int64_t depth, std::int64_t columns, const float* factor,
                      const float* k, float* known) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t c = 0; c < columns; c += lanes) {
    auto sum = hn::Zero(d);
    for (std::int64_t i = 0; i < depth; ++i) {
      auto s = hn::Load(d, state + i * columns + c);
      if (factor != nullptr) {
        s = hn::Mul(s, hn::Set(d, factor[i]));
        hn::Store(s, d, state + i * columns + c);
      }
      if (k != nullptr) sum = hn::MulAdd(s, hn::Set(d, k[i]), sum);
    }
    if (k != nullptr) hn::Store(sum, d, known + c);
  }
}

// state += k⊗v, and out = scale·stateᵀ·q.
void write_and_read(float* state, std::int64_t depth, std::int64_t columns, const float* k,
                    const float* v, const float* q, float scale, float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t c = 0; c < columns; c += lanes) {
    const auto value = hn::Load(d, v + c);
    auto sum = hn::Zero(d);
    for (std::int64_t i = 0; i < depth; ++i) {
      auto s = hn::Load(d, state + i * columns + c);
      s = hn::MulAdd(value, hn::Set(d, k[i]), s);
      hn::Store(s, d, state + i * columns + c);
      sum = hn::MulAdd(s, hn::Set(d, q[i]), sum);
    }
    hn::Store(hn::Mul(sum, hn::Set(d, scale)), d, out + c);
  }
}

void read_state(const float* state, std::int64_t depth, std::int64_t columns, const float* q,
                float scale, float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t c = 0; c < columns; c += lanes) {
    auto sum = hn::Zero(d);
    for (std::int64_t i = 0; i < depth; ++i) {
      sum = hn::MulAdd(hn::Load(d, state + i * columns + c), hn::Set(d, q[i]), sum);
    }
    hn::Store(hn::Mul(sum, hn::Set(d, scale)), d, out + c);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(decay_and_recall);
HWY_EXPORT(write_and_read);
HWY_EXPORT(read_state);

namespace {

// Columns of the state are independent of each other: so many are done together, a multiple of any
// vector's lanes.
constexpr std::int64_t kColumns = 64;

// One block of columns of one head through all steps.
void run_block(const LinearAttentionArgs& a, std::int64_t b, std::int64_t h, std::int64_t first) {
  const std::int64_t used = std::min(kColumns, a.width - first);
  auto* memory = reinterpret_cast<float*>(thread_scratch(
      static_cast<std::size_t>(a.depth * kColumns + 2 * kColumns + a.depth) * sizeof(float), 0));
  float* state = memory;  // [depth, kColumns], zeros in the columns that are not used
  float* value = state + a.depth * kColumns;
  float* result = value + kColumns;
  float* factor = result + kColumns;  // [depth]
  const std::int64_t head = (b * a.heads + h) * a.depth * a.width + first;
  for (std::int64_t i = 0; i < a.depth; ++i) {
    float* row = state + i * kColumns;
    std::fill_n(row, kColumns, 0.0f);
    if (a.past != nullptr) std::copy_n(a.past + head + i * a.width, used, row);
  }
  const std::int64_t group = a.q_heads / a.heads;
  for (std::int64_t t = 0; t < a.steps; ++t) {
    const std::int64_t row = b * a.steps + t;
    const float* k = a.k + (row * a.heads + h) * a.depth;
    const float* v = a.v + (row * a.heads + h) * a.width + first;
    if (a.decay != nullptr) {
      const float* gate =
          a.decay + (a.decay_per_depth ? (row * a.heads + h) * a.depth : row * a.heads + h);
      if (a.decay_per_depth) {
        for (std::int64_t i = 0; i < a.depth; ++i) factor[i] = std::exp(gate[i]);
      } else {
        std::fill_n(factor, a.depth, std::exp(gate[0]));
      }
    }
    std::fill_n(value, kColumns, 0.0f);
    if (a.decay != nullptr || a.beta != nullptr) {
      HWY_DYNAMIC_DISPATCH(decay_and_recall)
      (state, a.depth, kColumns, a.decay != nullptr ? factor : nullptr,
       a.beta != nullptr ? k : nullptr, value);
    }
    if (a.beta != nullptr) {
      const float beta = a.beta[a.beta_per_head ? row * a.heads + h : row];
      for (std::int64_t c = 0; c < used; ++c) value[c] = beta * (v[c] - value[c]);
      std::fill(value + used, value + kColumns, 0.0f);
    } else {
      std::copy_n(v, used, value);
    }
    for (std::int64_t g = 0; g < group; ++g) {
      const std::int64_t q_head = row * a.q_heads + h * group + g;
      const float* q = a.q + q_head * a.depth;
      if (g == 0) {
        HWY_DYNAMIC_DISPATCH(write_and_read)
        (state, a.depth, kColumns, k, value, q, a.scale, result);
      } else {
        HWY_DYNAMIC_DISPATCH(read_state)(state, a.depth, kColumns, q, a.scale, result);
      }
      std::copy_n(result, used, a.y + q_head * a.width + first);
    }
  }
  if (a.state == nullptr) return;
  for (std::int64_t i = 0; i < a.depth; ++i) {
    std::copy_n(state + i * kColumns, used, a.state + head + i * a.width);
  }
}

}  // namespace

void linear_attention(const LinearAttentionArgs& args) {
  const std::int64_t blocks = (args.width + kColumns - 1) / kColumns;
  const double nanoseconds =
      100 + static_cast<double>((args.steps + 1) * args.depth * kColumns) * 0.15;
  parallel_for(args.batch * args.heads * blocks, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) {
                   const std::int64_t head = task / blocks;
                   run_block(args, head / args.heads, head % args.heads, task % blocks * kColumns);
                 }
               });
}

}  // namespace concord::cpu
#endif
