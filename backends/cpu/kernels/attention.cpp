#include "backends/cpu/kernels/attention.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "backends/cpu/kernels/attention_internal.h"
#include "backends/cpu/kernels/cast_internal.h"
#include "backends/cpu/kernels/copy_internal.h"
#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/memory.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/attention.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/attention_softmax-inl.h"
#include "backends/cpu/kernels/matmul_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kTileKeys = 256;    // keys and values of a tile lie in L2
constexpr std::int64_t kChunkRows = 384;   // rows whose sums lie in L2 beside them
constexpr std::int64_t kDotRows = 4;       // up to here scores are dot products,
constexpr std::int64_t kStreamRows = 16;   // and up to here keys are not packed
constexpr std::int64_t kSmallTile = 8192;  // bytes of values that L1 holds at any stride

std::int64_t round_up(std::int64_t n, std::int64_t to) {
  return (n + to - 1) / to * to;
}

int vectors_of(std::int64_t columns) {
  return static_cast<int>((columns + kMatLanes - 1) / kMatLanes);
}

// A matrix of f32 in memory: rows of contiguous elements, stride in elements.
struct Rows {
  const float* data;
  std::int64_t stride;
};

// Queries [first, first + queries) of the query heads of one key head. A row is a query of one
// head; rows of a head follow each other.
class AttentionChunk {
 public:
  AttentionChunk(const AttentionShare& share, std::int64_t first, std::int64_t queries)
      : args_(*share.args),
        batch_(share.batch),
        kv_head_(share.kv_head),
        group_(args_.heads / args_.kv_heads),
        first_(first),
        queries_(queries),
        rows_(queries * group_),
        tile_keys_(
            std::clamp(round_up(args_.kv_len, kMatLanes), std::int64_t{kMatLanes}, kTileKeys)),
        value_width_(round_up(args_.v_head_dim, kMatLanes)),
        blocks_(queries, kMaxRows) {
    const std::int64_t query_floats = args_.q.type == Element::f32 ? 0 : rows_ * args_.head_dim;
    const std::int64_t key_floats = (tile_keys_ + 1) * round_up(args_.head_dim, kMatLanes);
    const std::int64_t score_rows = std::max<std::int64_t>(kMaxRows, std::min(rows_, kStreamRows));
    const std::int64_t floats = query_floats + key_floats + tile_keys_ * value_width_ +
                                score_rows * tile_keys_ + rows_ * value_width_ + tile_keys_ +
                                2 * rows_ + (args_.head_dim + tile_keys_) * kStreamRows + 9 * 16;
    scratch_ = reinterpret_cast<float*>(thread_scratch(static_cast<std::size_t>(floats) * 4, 0));
    query_copy_ = take(query_floats);
    key_copy_ = take(key_floats);
    value_copy_ = take(tile_keys_ * value_width_);
    scores_ = take(score_rows * tile_keys_);
    sums_ = take(rows_ * value_width_);
    mask_row_ = take(tile_keys_);
    states_ = reinterpret_cast<RowState*>(take(2 * rows_));
    query_columns_ = take(args_.head_dim * kStreamRows);
    key_scores_ = take(tile_keys_ * kStreamRows);
  }

  void run() {
    KeyRange all = range_of(0);
    for (std::int64_t row = 0; row < rows_; ++row) {
      states_[row] = {kMinusInfinity, 0.0f};
      const KeyRange range = range_of(row);
      all = {std::min(all.low, range.low), std::max(all.high, range.high)};
    }
    std::fill_n(sums_, rows_ * value_width_, 0.0f);
    convert_queries();
    const bool stream = rows_ <= kStreamRows;
    for (std::int64_t tile = all.low / tile_keys_ * tile_keys_; tile < all.high;
         tile += tile_keys_) {
      tile_ = tile;
      count_ = std::min(tile_keys_, all.high - tile);
      stream ? stream_tile() : packed_tile();
    }
    for (std::int64_t row = 0; row < rows_; ++row) write_row(row);
  }

 private:
  const AttentionArgs& args_;
  std::int64_t batch_, kv_head_, group_, first_, queries_, rows_, tile_keys_, value_width_;
  RowBlocks blocks_;
  std::int64_t tile_ = 0, count_ = 0;  // the tile's first key, and its keys
  float* scratch_;
  float* query_copy_;     // [rows][head_dim], unless queries are f32
  float* key_copy_;       // [tile_keys / kPanel][head_dim][kPanel], or converted rows
  float* value_copy_;     // [value_width / kPanel][tile_keys][kPanel], or converted rows
  float* scores_;         // [rows of a block][tile_keys]
  float* sums_;           // [rows][value_width]
  float* mask_row_;       // [tile_keys]
  RowState* states_;      // [rows]
  float* query_columns_;  // [head_dim][kStreamRows]
  float* key_scores_;     // [tile_keys][rows]

  float* take(std::int64_t count) {
    float* part = scratch_;
    scratch_ += round_up(count, 16);
    return part;
  }

  std::int64_t query_of(std::int64_t row) const { return first_ + row % queries_; }
  std::int64_t head_of(std::int64_t row) const { return kv_head_ * group_ + row / queries_; }
  KeyRange range_of(std::int64_t row) const { return visible_keys(args_, batch_, query_of(row)); }

  static const std::byte* at(const HeadsView& view, std::int64_t batch, std::int64_t head,
                             std::int64_t seq) {
    const std::int64_t offset =
        batch * view.batch_stride + head * view.head_stride + seq * view.seq_stride;
    return static_cast<const std::byte*>(view.data) +
           offset * static_cast<std::int64_t>(element_size(view.type));
  }

  void convert_queries() {
    if (args_.q.type == Element::f32) return;
    for (std::int64_t row = 0; row < rows_; ++row) {
      load_floats(args_.q.type, at(args_.q, batch_, head_of(row), query_of(row)), 1,
                  query_copy_ + row * args_.head_dim, args_.head_dim);
    }
  }

  // Rows from this one on, to the end of its head.
  Rows query_rows(std::int64_t row) const {
    if (args_.q.type != Element::f32) return {query_copy_ + row * args_.head_dim, args_.head_dim};
    return {reinterpret_cast<const float*>(at(args_.q, batch_, head_of(row), query_of(row))),
            args_.q.seq_stride};
  }

  // The tile's rows of keys or values; converted into copy unless they are f32.
  Rows tile_rows(const HeadsView& view, std::int64_t width, float* copy) const {
    const std::byte* first = at(view, batch_, kv_head_, tile_);
    if (view.type == Element::f32) return {reinterpret_cast<const float*>(first), view.seq_stride};
    for (std::int64_t j = 0; j < count_; ++j) {
      load_floats(view.type, at(view, batch_, kv_head_, tile_ + j), 1, copy + j * width, width);
    }
    return {copy, width};
  }

  // The rows' ranges within the tile, and their union; an empty one is {0, 0}.
  KeyRange ranges_within(std::int64_t row, std::int64_t rows, KeyRange* ranges) const {
    KeyRange all{count_, 0};
    for (std::int64_t i = 0; i < rows; ++i) {
      const KeyRange range = range_of(row + i);
      ranges[i] = {std::clamp<std::int64_t>(range.low - tile_, 0, count_),
                   std::clamp<std::int64_t>(range.high - tile_, 0, count_)};
      if (ranges[i].low >= ranges[i].high) {
        ranges[i] = {0, 0};
      } else {
        all = {std::min(all.low, ranges[i].low), std::max(all.high, ranges[i].high)};
      }
    }
    return all;
  }

  // Many rows: keys are transposed into panels once for the tile, values copied into panels.
  void packed_tile() {
    const std::int64_t depth = args_.head_dim;
    const std::byte* keys = at(args_.k, batch_, kv_head_, tile_);
    const MatrixView keys_across{keys, args_.k.type, depth, count_, 1, args_.k.seq_stride};
    for (std::int64_t n = 0; n < count_; n += kPanel) {
      const auto columns = static_cast<int>(std::min<std::int64_t>(kPanel, count_ - n));
      pack_panel(keys_across, 0, depth, n, columns, vectors_of(columns) * kMatLanes, Element::f32,
                 reinterpret_cast<std::byte*>(key_copy_ + n * depth));
    }
    const bool values_in_place = place_values(true);
    std::int64_t row = 0;
    for (std::int64_t head = 0; head < group_; ++head) {
      for (std::int64_t block = 0; block < blocks_.count; ++block) {
        const int height = blocks_.height(block);
        packed_block(row, height, values_in_place);
        row += height;
      }
    }
  }

  // Where the values can be read as panels as they lie: true. Else copies them.
  bool place_values(bool many_rows) {
    const HeadsView& v = args_.v;
    const std::int64_t bytes = count_ * args_.v_head_dim * 4;
    const bool whole = v.type == Element::f32 && args_.v_head_dim % kMatLanes == 0;
    if (whole && (!many_rows || bytes <= kSmallTile || v.seq_stride == args_.v_head_dim))
      return true;
    const MatrixView values{
        at(v, batch_, kv_head_, tile_), v.type, count_, args_.v_head_dim, v.seq_stride, 1};
    for (std::int64_t n = 0; n < args_.v_head_dim; n += kPanel) {
      const auto columns = static_cast<int>(std::min<std::int64_t>(kPanel, args_.v_head_dim - n));
      pack_panel(values, 0, count_, n, columns, vectors_of(columns) * kMatLanes, Element::f32,
                 reinterpret_cast<std::byte*>(value_copy_ + n * tile_keys_));
    }
    return false;
  }

  void packed_block(std::int64_t row, int height, bool values_in_place) {
    KeyRange ranges[kMaxRows];
    const KeyRange all = ranges_within(row, height, ranges);
    if (all.low >= all.high) return;
    const Rows queries = query_rows(row);
    MicroArgs micro{};
    micro.steps = args_.head_dim;
    micro.a = reinterpret_cast<const std::byte*>(queries.data);
    micro.lda = queries.stride * 4;
    micro.ld_sums = tile_keys_;
    for (std::int64_t n = all.low / kPanel * kPanel; n < all.high; n += kPanel) {
      const int vectors = vectors_of(std::min<std::int64_t>(kPanel, count_ - n));
      micro.b = reinterpret_cast<const std::byte*>(key_copy_ + n * args_.head_dim);
      micro.b_step = vectors * kMatLanes * 4;
      micro.sums = scores_ + n;
      micro_kernel<StepF32>(height, vectors)(micro);
    }
    for (int i = 0; i < height; ++i) soften(row + i, ranges[i], all, scores_ + i * tile_keys_);
    add_values(row, height, all, scores_, values_in_place);
  }

  // sums += weights · values for a block of rows.
  void add_values(std::int64_t row, int height, KeyRange keys, const float* weights,
                  bool in_place) {
    MicroArgs micro{};
    micro.accumulate = true;
    micro.steps = keys.high - keys.low;
    micro.a = reinterpret_cast<const std::byte*>(weights + keys.low);
    micro.lda = tile_keys_ * 4;
    micro.ld_sums = value_width_;
    const auto* values =
        reinterpret_cast<const float*>(at(args_.v, batch_, kv_head_, tile_ + keys.low));
    for (std::int64_t n = 0; n < args_.v_head_dim; n += kPanel) {
      const int vectors = vectors_of(std::min<std::int64_t>(kPanel, args_.v_head_dim - n));
      if (in_place) {
        micro.b = reinterpret_cast<const std::byte*>(values + n);
        micro.b_step = args_.v.seq_stride * 4;
      } else {
        micro.b_step = vectors * kMatLanes * 4;
        micro.b = reinterpret_cast<const std::byte*>(value_copy_ + n * tile_keys_) +
                  keys.low * micro.b_step;
      }
      micro.sums = sums_ + row * value_width_ + n;
      micro_kernel<StepF32>(height, vectors)(micro);
    }
  }

  // Few rows (a decoder's step): keys and values are read once, where they lie.
  void stream_tile() {
    KeyRange ranges[kStreamRows];
    const KeyRange all = ranges_within(0, rows_, ranges);
    if (all.low >= all.high) return;
    const Rows keys = tile_rows(args_.k, args_.head_dim, key_copy_);
    if (rows_ <= kDotRows) {
      for (std::int64_t row = 0; row < rows_; ++row) {
        const float* query = query_rows(row).data;
        float* scores = scores_ + row * tile_keys_;
        for (std::int64_t j = all.low; j < all.high; ++j) {
          scores[j] = dot(keys.data + j * keys.stride, query, args_.head_dim);
        }
      }
    } else {
      score_by_keys(keys, all);
    }
    for (std::int64_t row = 0; row < rows_; ++row) {
      soften(row, ranges[row], all, scores_ + row * tile_keys_);
    }
    const bool in_place = place_values(false);
    const RowBlocks blocks(rows_, kMaxRows);
    std::int64_t row = 0;
    for (std::int64_t block = 0; block < blocks.count; ++block) {
      const int height = blocks.height(block);
      add_values(row, height, all, scores_ + row * tile_keys_, in_place);
      row += height;
    }
  }

  // Scores with keys as the rows of the product and queries, transposed, as its columns.
  void score_by_keys(const Rows& keys, KeyRange all) {
    const std::int64_t width = round_up(rows_, kMatLanes);
    if (width != rows_) std::fill_n(query_columns_, args_.head_dim * width, 0.0f);
    for (std::int64_t row = 0; row < rows_; row += queries_) {
      const Rows queries = query_rows(row);
      transpose_words(reinterpret_cast<const std::uint32_t*>(queries.data), queries.stride,
                      queries_, args_.head_dim,
                      reinterpret_cast<std::uint32_t*>(query_columns_ + row), width);
    }
    MicroArgs micro{};
    micro.steps = args_.head_dim;
    micro.lda = keys.stride * 4;
    micro.b_step = width * 4;
    micro.ld_sums = width;
    for (std::int64_t j = all.low; j < all.high; j += kMaxRows) {
      const int height = static_cast<int>(std::min<std::int64_t>(kMaxRows, all.high - j));
      micro.a = reinterpret_cast<const std::byte*>(keys.data + j * keys.stride);
      for (std::int64_t n = 0; n < width; n += kPanel) {
        const int vectors = vectors_of(std::min<std::int64_t>(kPanel, width - n));
        micro.b = reinterpret_cast<const std::byte*>(query_columns_ + n);
        micro.sums = key_scores_ + j * width + n;
        micro_kernel<StepF32>(height, vectors)(micro);
      }
    }
    transpose_words(reinterpret_cast<const std::uint32_t*>(key_scores_ + all.low * width), width,
                    all.high - all.low, rows_, reinterpret_cast<std::uint32_t*>(scores_ + all.low),
                    tile_keys_);
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

  // The row's additive mask at the tile's positions of the range; null if there is none.
  const float* mask_of(std::int64_t row, KeyRange range) {
    const std::int64_t step = args_.mask_k_stride;
    const std::int64_t offset = batch_ * args_.mask_batch_stride +
                                head_of(row) * args_.mask_head_stride +
                                query_of(row) * args_.mask_q_stride + tile_ * step;
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

  void soften(std::int64_t row, KeyRange range, KeyRange block, float* scores) {
    if (range.low >= range.high) {
      std::fill(scores + block.low, scores + block.high, 0.0f);
      return;
    }
    const float decay = soften_row(
        {scores, range, block, mask_of(row, range), args_.scale, args_.softcap}, states_[row]);
    if (decay == 1.0f) return;
    const MatTag d;
    float* sums = sums_ + row * value_width_;
    for (std::int64_t n = 0; n < value_width_; n += kMatLanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, sums + n), hn::Set(d, decay)), d, sums + n);
    }
  }

  void write_row(std::int64_t row) {
    const MatTag d;
    float* sums = sums_ + row * value_width_;
    const float sum = states_[row].sum;
    // Sum 0: no key was visible. 0 / 0 gives the NaN of the formula; where there are no keys at
    // all, the product with no values is 0.
    const bool zero = args_.empty_rows_zero || args_.kv_len == 0;
    const MatVec inverse = hn::Set(d, sum == 0.0f && zero ? 0.0f : 1.0f / sum);
    std::byte* out = static_cast<std::byte*>(args_.out) +
                     (batch_ * args_.out_batch_stride + head_of(row) * args_.out_head_stride +
                      query_of(row) * args_.out_seq_stride) *
                         static_cast<std::int64_t>(element_size(args_.out_type));
    const bool direct = args_.out_type == Element::f32 && value_width_ == args_.v_head_dim;
    float* target = direct ? reinterpret_cast<float*>(out) : sums;
    for (std::int64_t n = 0; n < value_width_; n += kMatLanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, sums + n), inverse), d, target + n);
    }
    if (!direct) convert_serial(Element::f32, sums, args_.out_type, out, args_.v_head_dim);
  }
};

}  // namespace

void attention_share(const AttentionShare& share) {
  const std::int64_t group = share.args->heads / share.args->kv_heads;
  const std::int64_t queries = std::max<std::int64_t>(1, kChunkRows / group);
  for (std::int64_t first = share.begin; first < share.end; first += queries) {
    AttentionChunk(share, first, std::min(queries, share.end - first)).run();
  }
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
  const double width = static_cast<double>(args.head_dim + args.v_head_dim);
  const double products = static_cast<double>(args.batch * args.heads * args.q_len) *
                          static_cast<double>(args.kv_len) * width;
  const double bytes = static_cast<double>(heads * args.kv_len) * width * 4;
  const double nanoseconds = std::max(products / 40, bytes / 20);  // on one core
  const std::int64_t threads =
      std::min<std::int64_t>(current_threads(), static_cast<std::int64_t>(nanoseconds / 3000) + 1);
  // Queries are cut only where there are too few heads to go round: each piece packs the keys anew.
  std::int64_t pieces = 1;
  const auto uneven = [&](std::int64_t cut) {
    const std::int64_t items = heads * cut;
    const std::int64_t whole = (items + threads - 1) / threads * threads;
    return static_cast<double>(whole) / static_cast<double>(items);
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
