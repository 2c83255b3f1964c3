// The softmax part of attention: scores of a tile of keys become weights. Included once for each
// target.

#if defined(CONCORD_ATTENTION_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CONCORD_ATTENTION_SOFTMAX_INL_H
#undef CONCORD_ATTENTION_SOFTMAX_INL_H
#else
#define CONCORD_ATTENTION_SOFTMAX_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backends/cpu/kernels/attention_internal.h"
#include "backends/cpu/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// What softmax over tiles keeps of a row: the maximum so far, and the sum of exp(score - maximum).
struct RowState {
  float top;
  float sum;
};

struct ScoreRow {
  float* scores;      // of the tile: q · k before, weights after
  KeyRange range;     // what the row sees of the tile; not empty
  KeyRange block;     // what any row of its block sees: weights outside range are 0 in here
  const float* mask;  // added, by position in the tile; null if there is none
  float scale;
  float softcap;  // 0 if there is none
};

// Applies f to the scores in range, whole vectors first; f gets a vector, the mask's, and a mask of
// valid lanes is not needed: lanes beyond the range hold -inf before and are not written.
// Turns scores into exp(score - top) and returns by how much earlier sums shrink.
HWY_INLINE float soften_row(const ScoreRow& row, RowState& state) {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  const D d;
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  float* scores = row.scores;
  const std::int64_t low = row.range.low;
  const std::int64_t high = row.range.high;
  if (row.block.low < low) std::fill(scores + row.block.low, scores + low, 0.0f);
  if (high < row.block.high) std::fill(scores + high, scores + row.block.high, 0.0f);
  const std::int64_t whole = low + (high - low) / kLanes * kLanes;
  const std::int64_t rest = high - whole;
  const float* mask = row.mask;
  const V scale = hn::Set(d, row.scale);
  const V nothing = hn::Set(d, kMinusInfinity);
  // Without mask, cap or a negative scale the scores are scaled only as the maximum is subtracted.
  const bool plain = mask == nullptr && row.softcap == 0 && row.scale > 0;
  const auto adjust = [&](V s, V added) HWY_ATTR {
    if (row.softcap > 0) {
      s = hn::Mul(s, hn::Set(d, row.scale / row.softcap));
      return hn::MulAdd(vec_tanh(d, s), hn::Set(d, row.softcap), added);
    }
    return hn::MulAdd(s, scale, added);
  };
  V top = nothing;
  for (std::int64_t j = low; j < whole; j += kLanes) {
    V s = hn::LoadU(d, scores + j);
    if (!plain) {
      s = adjust(s, mask != nullptr ? hn::LoadU(d, mask + j) : hn::Zero(d));
      hn::StoreU(s, d, scores + j);
    }
    top = hn::Max(top, s);
  }
  V last = nothing;
  const auto inside = hn::FirstN(d, static_cast<std::size_t>(rest));
  if (rest > 0) {
    // Rows of scores are padded to whole vectors; masks are not.
    last = hn::LoadU(d, scores + whole);
    if (!plain) {
      last = adjust(last, mask != nullptr ? hn::MaskedLoad(inside, d, mask + whole) : hn::Zero(d));
    }
    last = hn::IfThenElse(inside, last, nothing);
    top = hn::Max(top, last);
  }
  float highest = hn::GetLane(hn::MaxOfLanes(d, top));
  if (plain) highest *= row.scale;
  highest = std::max(state.top, highest);
  // Nothing visible yet: any finite reference makes all weights exp(-inf) = 0.
  const V reference = hn::Set(d, highest == kMinusInfinity ? 0.0f : highest);
  const auto weight = [&](V s) HWY_ATTR {
    return vec_exp_nonpositive(d, plain ? hn::MulSub(s, scale, reference) : hn::Sub(s, reference));
  };
  V sum = hn::Zero(d);
  for (std::int64_t j = low; j < whole; j += kLanes) {
    const V e = weight(hn::LoadU(d, scores + j));
    sum = hn::Add(sum, e);
    hn::StoreU(e, d, scores + j);
  }
  if (rest > 0) {
    const V e = hn::IfThenElseZero(inside, weight(last));
    sum = hn::Add(sum, e);
    hn::BlendedStore(e, inside, d, scores + whole);
  }
  const float added = hn::GetLane(hn::SumOfLanes(d, sum));
  float decay = 1.0f;
  if (state.top != highest && state.top != kMinusInfinity) decay = std::exp(state.top - highest);
  state.sum = state.sum * decay + added;
  state.top = highest;
  return decay;
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#endif
