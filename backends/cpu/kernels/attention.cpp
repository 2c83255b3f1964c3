#include "backends/cpu/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "backends/cpu/kernels/cast_internal.h"
#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/attention.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/matmul_kernels-inl.h"
#include "backends/cpu/kernels/vector_math-inl.h"

#ifndef CONCORD_ATTENTION_SHARED
#define CONCORD_ATTENTION_SHARED
namespace concord::cpu {

// One thread's share: queries [begin, end) of all query heads that use one key head.
struct AttentionShare {
  const AttentionArgs* args;
  std::int64_t batch, kv_head, begin, end;
};

// The keys that a query sees: [low, high).
struct KeyRange {
  std::int64_t low, high;
};

inline KeyRange visible_keys(const AttentionArgs& a, std::int64_t batch, std::int64_t query) {
  KeyRange range{0, a.kv_len};
  const std::int64_t diagonal = query + a.causal_offset;
  if (a.key_lengths != nullptr) {
    range.high = std::min<std::int64_t>(range.high, a.key_lengths[batch]);
  }
  if (a.causal) range.high = std::min(range.high, diagonal + 1);
  if (a.right_window >= 0) range.high = std::min(range.high, diagonal + a.right_window);
  if (a.window >= 0) range.low = std::max(range.low, diagonal - a.window + 1);
  range.high = std::max(range.high, range.low);
  return range;
}

}  // namespace concord::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr std::int64_t kTileKeys = 256;   // keys and values of a tile lie in L2
constexpr std::int64_t kChunkRows = 384;  // rows whose sums lie in L2 beside them
constexpr int kStreamRows = 3;            // up to here keys are read where they lie

std::int64_t round_up(std::int64_t n, std::int64_t to) {
  return (n + to - 1) / to * to;
}

// What softmax over tiles keeps of a row: the maximum so far, and the sum of exp(score - maximum).
struct RowState {
  float top;
  float sum;
};

class Attention {
 public:
  explicit Attention(const AttentionShare& share)
      : args_(*share.args),
        batch_(share.batch),
        kv_head_(share.kv_head),
        group_(args_.heads / args_.kv_heads),
        value_width_(round_up(args_.v_head_dim, kPanel)),
        query_width_(round_up(args_.head_dim, kMatLanes)) {}

  void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t queries = std::max<std::int64_t>(1, kChunkRows / group_);
    for (std::int64_t at = begin; at < end; at += queries) chunk(at, std::min(end, at + queries));
  }

 private:
  const AttentionArgs& args_;
  std::int64_t batch_, kv_head_, group_;
  std::int64_t value_width_, query_width_;
  std::int64_t first_ = 0, queries_ = 0, rows_ = 0, tile_keys_ = 0;
  float* keys_ = nullptr;         // [tile_keys / kPanel][head_dim][kPanel], or rows as they are
  float* values_ = nullptr;       // [value_width / kPanel][tile_keys][kPanel]
  float* queries_f32_ = nullptr;  // [rows][query_width], scaled
  float* scores_ = nullptr;       // [kMaxRows][tile_keys]
  float* sums_ = nullptr;         // [rows][value_width]
  float* mask_row_ = nullptr;     // [tile_keys]
  RowState* states_ = nullptr;

  std::int64_t query_of(std::int64_t row) const { return first_ + row % queries_; }
  std::int64_t head_of(std::int64_t row) const { return kv_head_ * group_ + row / queries_; }
  KeyRange range_of(std::int64_t row) const { return visible_keys(args_, batch_, query_of(row)); }

  void chunk(std::int64_t begin, std::int64_t end) {
    first_ = begin;
    queries_ = end - begin;
    rows_ = queries_ * group_;
    tile_keys_ = std::min(kTileKeys, round_up(args_.kv_len, kPanel));
    const bool stream = rows_ <= kStreamRows;
    const std::int64_t key_floats = tile_keys_ * std::max(args_.head_dim, args_.v_head_dim);
    const std::int64_t floats = key_floats + tile_keys_ * value_width_ + rows_ * query_width_ +
                                kMaxRows * tile_keys_ + rows_ * value_width_ + tile_keys_ +
                                2 * rows_ + 7 * 16;
    auto* scratch =
        reinterpret_cast<float*>(thread_scratch(static_cast<std::size_t>(floats) * 4, 0));
    const auto take = [&scratch](std::int64_t count) {
      float* part = scratch;
      scratch += round_up(count, 16);
      return part;
    };
    keys_ = take(key_floats);
    values_ = take(tile_keys_ * value_width_);
    queries_f32_ = take(rows_ * query_width_);
    scores_ = take(kMaxRows * tile_keys_);
    sums_ = take(rows_ * value_width_);
    mask_row_ = take(tile_keys_);
    states_ = reinterpret_cast<RowState*>(take(2 * rows_));
    load_queries();
    std::fill_n(sums_, rows_ * value_width_, 0.0f);
    KeyRange all = range_of(0);
    for (std::int64_t row = 0; row < rows_; ++row) {
      states_[row] = {kMinusInfinity, 0.0f};
      const KeyRange range = range_of(row);
      all.low = std::min(all.low, range.low);
      all.high = std::max(all.high, range.high);
    }
    for (std::int64_t tile = all.low / tile_keys_ * tile_keys_; tile < all.high;
         tile += tile_keys_) {
      const std::int64_t count = std::min(tile_keys_, all.high - tile);
      stream ? stream_tile(tile, count) : packed_tile(tile, count);
    }
    for (std::int64_t row = 0; row < rows_; ++row) write_row(row);
  }

  static const std::byte* at(const HeadsView& view, std::int64_t batch, std::int64_t head,
                             std::int64_t seq) {
    const std::int64_t offset =
        batch * view.batch_stride + head * view.head_stride + seq * view.seq_stride;
    return static_cast<const std::byte*>(view.data) +
           offset * static_cast<std::int64_t>(element_size(view.type));
  }

  void load_queries() {
    const MatTag d;
    const MatVec scale = hn::Set(d, args_.scale);
    for (std::int64_t row = 0; row < rows_; ++row) {
      float* out = queries_f32_ + row * query_width_;
      load_floats(args_.q.type, at(args_.q, batch_, head_of(row), query_of(row)), 1, out,
                  args_.head_dim);
      std::fill(out + args_.head_dim, out + query_width_, 0.0f);
      for (std::int64_t i = 0; i < query_width_; i += kMatLanes) {
        hn::StoreU(hn::Mul(hn::LoadU(d, out + i), scale), d, out + i);
      }
    }
  }

  MatrixView matrix(const HeadsView& view, std::int64_t tile, std::int64_t count,
                    std::int64_t width) const {
    return {at(view, batch_, kv_head_, tile), view.type, count, width, view.seq_stride, 1};
  }

  // Many rows: keys are transposed into panels once for the tile, values copied into panels.
  void packed_tile(std::int64_t tile, std::int64_t count) {
    const std::int64_t depth = args_.head_dim;
    const std::int64_t padded = round_up(count, kPanel);
    const MatrixView key_rows = matrix(args_.k, tile, count, depth);
    const MatrixView keys_across{key_rows.data,      key_rows.type, depth, count, 1,
                                 key_rows.row_stride};
    for (std::int64_t n = 0; n < padded; n += kPanel) {
      const auto columns = static_cast<int>(std::min<std::int64_t>(kPanel, count - n));
      pack_panel(keys_across, 0, depth, n, columns, kPanel, Element::f32,
                 reinterpret_cast<std::byte*>(keys_ + n * depth));
    }
    const MatrixView value_rows = matrix(args_.v, tile, count, args_.v_head_dim);
    for (std::int64_t n = 0; n < value_width_; n += kPanel) {
      const auto columns = static_cast<int>(std::min<std::int64_t>(kPanel, args_.v_head_dim - n));
      pack_panel(value_rows, 0, count, n, columns, kPanel, Element::f32,
                 reinterpret_cast<std::byte*>(values_ + n * tile_keys_));
    }
    const RowBlocks blocks(rows_, kMaxRows);
    std::int64_t row = 0;
    for (std::int64_t block = 0; block < blocks.count; ++block) {
      const int height = blocks.height(block);
      packed_block(tile, count, row, height);
      row += height;
    }
  }

  void packed_block(std::int64_t tile, std::int64_t count, std::int64_t row, int height) {
    KeyRange ranges[kMaxRows];
    KeyRange all{count, 0};
    for (int i = 0; i < height; ++i) {
      const KeyRange range = range_of(row + i);
      ranges[i] = {std::clamp<std::int64_t>(range.low - tile, 0, count),
                   std::clamp<std::int64_t>(range.high - tile, 0, count)};
      if (ranges[i].low >= ranges[i].high) {
        ranges[i] = {0, 0};
        continue;
      }
      all.low = std::min(all.low, ranges[i].low);
      all.high = std::max(all.high, ranges[i].high);
    }
    if (all.low >= all.high) return;
    MicroArgs micro;
    micro.prefetch = nullptr;
    micro.prefetch_lines = 0;
    micro.accumulate = false;
    micro.steps = args_.head_dim;
    micro.a = reinterpret_cast<const std::byte*>(queries_f32_ + row * query_width_);
    micro.lda = query_width_ * 4;
    micro.b_step = kPanel * 4;
    micro.ld_sums = tile_keys_;
    for (std::int64_t n = all.low / kPanel * kPanel; n < all.high; n += kPanel) {
      const auto columns = std::min<std::int64_t>(kPanel, all.high - n);
      micro.b = reinterpret_cast<const std::byte*>(keys_ + n * args_.head_dim);
      micro.sums = scores_ + n;
      micro_kernel<StepF32>(height, static_cast<int>((columns + kMatLanes - 1) / kMatLanes))(micro);
    }
    for (int i = 0; i < height; ++i) {
      soften(row + i, tile, ranges[i], all, scores_ + i * tile_keys_);
    }
    micro.accumulate = true;
    micro.steps = all.high - all.low;
    micro.a = reinterpret_cast<const std::byte*>(scores_ + all.low);
    micro.lda = tile_keys_ * 4;
    micro.ld_sums = value_width_;
    for (std::int64_t n = 0; n < args_.v_head_dim; n += kPanel) {
      const auto columns = std::min<std::int64_t>(kPanel, args_.v_head_dim - n);
      micro.b = reinterpret_cast<const std::byte*>(values_ + n * tile_keys_ + all.low * kPanel);
      micro.sums = sums_ + row * value_width_ + n;
      micro_kernel<StepF32>(height, static_cast<int>((columns + kMatLanes - 1) / kMatLanes))(micro);
    }
  }

  // Few rows (a decoder's step): keys and values are read once, where they lie.
  void stream_tile(std::int64_t tile, std::int64_t count) {
    KeyRange ranges[kStreamRows];
    KeyRange all{count, 0};
    for (std::int64_t row = 0; row < rows_; ++row) {
      const KeyRange range = range_of(row);
      KeyRange& mine = ranges[row];
      mine = {std::clamp<std::int64_t>(range.low - tile, 0, count),
              std::clamp<std::int64_t>(range.high - tile, 0, count)};
      if (mine.low >= mine.high) {
        mine = {0, 0};
        continue;
      }
      all.low = std::min(all.low, mine.low);
      all.high = std::max(all.high, mine.high);
    }
    if (all.low >= all.high) return;
    const Rows keys = rows_as_f32(args_.k, tile, all, args_.head_dim);
    for (std::int64_t j = all.low; j < all.high; ++j) {
      for (std::int64_t row = 0; row < rows_; ++row) {
        scores_[row * tile_keys_ + j] =
            dot(keys.data + j * keys.stride, queries_f32_ + row * query_width_, args_.head_dim);
      }
    }
    for (std::int64_t row = 0; row < rows_; ++row) {
      soften(row, tile, ranges[row], all, scores_ + row * tile_keys_);
    }
    const Rows values = rows_as_f32(args_.v, tile, all, args_.v_head_dim);
    for (std::int64_t row = 0; row < rows_; ++row) {
      add_weighted(values, all, scores_ + row * tile_keys_, sums_ + row * value_width_);
    }
  }

  struct Rows {
    const float* data;
    std::int64_t stride;
  };
  Rows rows_as_f32(const HeadsView& view, std::int64_t tile, KeyRange keys, std::int64_t width) {
    if (view.type == Element::f32) {
      return {reinterpret_cast<const float*>(at(view, batch_, kv_head_, tile)), view.seq_stride};
    }
    for (std::int64_t j = keys.low; j < keys.high; ++j) {
      load_floats(view.type, at(view, batch_, kv_head_, tile + j), 1, keys_ + j * width, width);
    }
    return {keys_, width};
  }

  static HWY_INLINE float dot(const float* key, const float* query, std::int64_t depth) {
    const MatTag d;
    MatVec even = hn::Zero(d);
    MatVec odd = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + 2 * kMatLanes <= depth; i += 2 * kMatLanes) {
      even = hn::MulAdd(hn::LoadU(d, key + i), hn::LoadU(d, query + i), even);
      odd = hn::MulAdd(hn::LoadU(d, key + i + kMatLanes), hn::LoadU(d, query + i + kMatLanes), odd);
    }
    for (; i + kMatLanes <= depth; i += kMatLanes) {
      even = hn::MulAdd(hn::LoadU(d, key + i), hn::LoadU(d, query + i), even);
    }
    float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
    for (; i < depth; ++i) sum += key[i] * query[i];
    return sum;
  }

  // sums += weights · values, up to 8 vectors of the width at a time.
  void add_weighted(const Rows& values, KeyRange keys, const float* weights, float* sums) const {
    const MatTag d;
    std::int64_t n = 0;
    const std::int64_t width = args_.v_head_dim;
    for (; n + 4 * kMatLanes <= width; n += 4 * kMatLanes) {
      MatVec s[4];
      for (int i = 0; i < 4; ++i) s[i] = hn::LoadU(d, sums + n + i * kMatLanes);
      for (std::int64_t j = keys.low; j < keys.high; ++j) {
        const MatVec weight = hn::Set(d, weights[j]);
        const float* value = values.data + j * values.stride + n;
        for (int i = 0; i < 4; ++i) {
          s[i] = hn::MulAdd(weight, hn::LoadU(d, value + i * kMatLanes), s[i]);
        }
      }
      for (int i = 0; i < 4; ++i) hn::StoreU(s[i], d, sums + n + i * kMatLanes);
    }
    for (; n + kMatLanes <= width; n += kMatLanes) {
      MatVec s = hn::LoadU(d, sums + n);
      for (std::int64_t j = keys.low; j < keys.high; ++j) {
        s = hn::MulAdd(hn::Set(d, weights[j]), hn::LoadU(d, values.data + j * values.stride + n),
                       s);
      }
      hn::StoreU(s, d, sums + n);
    }
    for (; n < width; ++n) {
      for (std::int64_t j = keys.low; j < keys.high; ++j) {
        sums[n] += weights[j] * values.data[j * values.stride + n];
      }
    }
  }

  // The row's additive mask for keys [range.low, range.high) of the tile, at those positions; null
  // if there is none.
  const float* mask_of(std::int64_t row, std::int64_t tile, KeyRange range) {
    const std::int64_t offset = batch_ * args_.mask_batch_stride +
                                head_of(row) * args_.mask_head_stride +
                                query_of(row) * args_.mask_q_stride + tile * args_.mask_k_stride;
    const std::int64_t step = args_.mask_k_stride;
    if (args_.mask != nullptr) {
      const float* mask = args_.mask + offset;
      if (step == 1) return mask;
      for (std::int64_t j = range.low; j < range.high; ++j) mask_row_[j] = mask[j * step];
      return mask_row_;
    }
    if (args_.bool_mask != nullptr) {
      const std::uint8_t* mask = args_.bool_mask + offset;
      for (std::int64_t j = range.low; j < range.high; ++j) {
        mask_row_[j] = mask[j * step] != 0 ? 0.0f : kMinusInfinity;
      }
      return mask_row_;
    }
    return nullptr;
  }

  // Turns the row's scores of a tile into weights exp(score - top), zero outside its range but
  // inside that of the block, and brings its sums to the new maximum.
  void soften(std::int64_t row, std::int64_t tile, KeyRange range, KeyRange block, float* scores) {
    const MatTag d;
    if (range.low >= range.high) {
      std::fill(scores + block.low, scores + block.high, 0.0f);
      return;
    }
    std::fill(scores + block.low, scores + range.low, 0.0f);
    std::fill(scores + range.high, scores + block.high, 0.0f);
    const float* mask = mask_of(row, tile, range);
    const bool cap = args_.softcap > 0;
    const MatVec cap_by = hn::Set(d, args_.softcap);
    const MatVec cap_inverse = hn::Set(d, cap ? 1.0f / args_.softcap : 0.0f);
    const auto adjust = [&](MatVec s, auto load_mask) HWY_ATTR {
      if (cap) s = hn::Mul(cap_by, vec_tanh(d, hn::Mul(s, cap_inverse)));
      if (mask != nullptr) s = hn::Add(s, load_mask());
      return s;
    };
    const std::int64_t whole = range.low + (range.high - range.low) / kMatLanes * kMatLanes;
    const auto rest = static_cast<int>(range.high - whole);
    MatVec top = hn::Set(d, kMinusInfinity);
    const bool adjusted = cap || mask != nullptr;
    for (std::int64_t j = range.low; j < whole; j += kMatLanes) {
      MatVec s = hn::LoadU(d, scores + j);
      if (adjusted) {
        s = adjust(s, [&]() HWY_ATTR { return hn::LoadU(d, mask + j); });
        hn::StoreU(s, d, scores + j);
      }
      top = hn::Max(top, s);
    }
    HWY_ALIGN float tail[kMatLanes];
    if (rest > 0) {
      HWY_ALIGN float tail_mask[kMatLanes] = {};
      for (int i = 0; i < kMatLanes; ++i) tail[i] = i < rest ? scores[whole + i] : kMinusInfinity;
      for (int i = 0; i < rest && mask != nullptr; ++i) tail_mask[i] = mask[whole + i];
      MatVec s = hn::Load(d, tail);
      if (adjusted) s = adjust(s, [&]() HWY_ATTR { return hn::Load(d, tail_mask); });
      hn::Store(s, d, tail);
      // The cap makes -cap of the padding's -inf.
      for (int i = rest; i < kMatLanes; ++i) tail[i] = kMinusInfinity;
      top = hn::Max(top, hn::Load(d, tail));
    }
    RowState& state = states_[row];
    const float highest = std::max(state.top, hn::GetLane(hn::MaxOfLanes(d, top)));
    // Nothing visible yet: any finite reference makes all weights exp(-inf) = 0.
    const float reference = highest == kMinusInfinity ? 0.0f : highest;
    const MatVec from = hn::Set(d, reference);
    MatVec sum = hn::Zero(d);
    for (std::int64_t j = range.low; j < whole; j += kMatLanes) {
      const MatVec e = vec_exp_nonpositive(d, hn::Sub(hn::LoadU(d, scores + j), from));
      sum = hn::Add(sum, e);
      hn::StoreU(e, d, scores + j);
    }
    if (rest > 0) {
      const MatVec e = vec_exp_nonpositive(d, hn::Sub(hn::Load(d, tail), from));
      hn::Store(e, d, tail);
      for (int i = rest; i < kMatLanes; ++i) tail[i] = 0.0f;
      sum = hn::Add(sum, hn::Load(d, tail));
      for (int i = 0; i < rest; ++i) scores[whole + i] = tail[i];
    }
    float decay = 1.0f;
    if (state.top != highest && state.top != kMinusInfinity) {
      decay = std::exp(state.top - highest);
      float* sums = sums_ + row * value_width_;
      for (std::int64_t n = 0; n < value_width_; n += kMatLanes) {
        hn::StoreU(hn::Mul(hn::LoadU(d, sums + n), hn::Set(d, decay)), d, sums + n);
      }
    }
    state.sum = state.sum * decay + hn::GetLane(hn::SumOfLanes(d, sum));
    state.top = highest;
  }

  void write_row(std::int64_t row) {
    const MatTag d;
    float* sums = sums_ + row * value_width_;
    const float sum = states_[row].sum;
    // Sum 0: no key was visible. 0 / 0 gives the NaN of the formula.
    const float inverse = sum == 0.0f && args_.empty_rows_zero ? 0.0f : 1.0f / sum;
    for (std::int64_t n = 0; n < value_width_; n += kMatLanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, sums + n), hn::Set(d, inverse)), d, sums + n);
    }
    const std::int64_t offset = batch_ * args_.out_batch_stride +
                                head_of(row) * args_.out_head_stride +
                                query_of(row) * args_.out_seq_stride;
    convert_serial(Element::f32, sums, args_.out_type,
                   static_cast<std::byte*>(args_.out) +
                       offset * static_cast<std::int64_t>(element_size(args_.out_type)),
                   args_.v_head_dim);
  }
};

}  // namespace

void attention_share(const AttentionShare& share) {
  Attention(share).run(share.begin, share.end);
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(attention_share);

void attention(const AttentionArgs& args) {
  if (args.batch * args.heads * args.q_len * args.v_head_dim == 0) return;
  const std::int64_t heads = args.batch * args.kv_heads;
  const double products = static_cast<double>(args.batch * args.heads * args.q_len) *
                          static_cast<double>(args.kv_len) *
                          static_cast<double>(args.head_dim + args.v_head_dim);
  const double nanoseconds = products / 40;  // one core, softmax included
  const std::int64_t threads =
      std::min<std::int64_t>(current_threads(), static_cast<std::int64_t>(nanoseconds / 3000) + 1);
  // Queries are cut only where there are too few heads to go round: each piece packs the keys anew.
  std::int64_t pieces = 1;
  const auto uneven = [&](std::int64_t cut) {
    const std::int64_t items = heads * cut;
    return static_cast<double>((items + threads - 1) / threads * threads) /
           static_cast<double>(items);
  };
  while (threads > 1 && pieces < 8 && pieces * 2 * 16 <= args.q_len && uneven(pieces) > 1.1) {
    pieces *= 2;
  }
  const std::int64_t length = (args.q_len + pieces - 1) / pieces;
  parallel_dynamic(heads * pieces, threads > 1 ? nanoseconds : 0, [&](std::int64_t item) {
    // The last queries of a causal model see the most keys: first.
    const std::int64_t piece = pieces - 1 - item / heads;
    const std::int64_t head = item % heads;
    const AttentionShare share{&args, head / args.kv_heads, head % args.kv_heads, piece * length,
                               std::min(args.q_len, (piece + 1) * length)};
    if (share.begin < share.end) HWY_DYNAMIC_DISPATCH(attention_share)(share);
  });
}

}  // namespace concord::cpu
#endif
