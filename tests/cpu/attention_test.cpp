// Attention against double loops: layouts, masks, windows, grouped heads, odd sizes, long
// sequences.

#include "backends/cpu/kernels/attention.h"

#include <cmath>
#include <limits>

#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  std::int64_t batch = 2, heads = 4, kv_heads = 2, q_len = 5, kv_len = 9, head_dim = 16, v_dim = 16;
  bool heads_outside = false;  // [batch, heads, seq, dim] instead of [batch, seq, heads, dim]
  Element kv_type = Element::f32;
  int mask = 0;  // 1: [q, k], 2: [batch, 1, 1, k], 3: transposed strides, 4: bool [q, k]
  bool causal = false;
  std::int64_t offset = 0, window = -1, right_window = -1;
  float softcap = 0;
  bool lengths = false;
  float spread = 1.0f;  // of the scores
};

class AttentionKernel : public IsaTest {
 protected:
  static HeadsView view(const void* data, Element type, bool outside, std::int64_t heads,
                        std::int64_t seq, std::int64_t dim) {
    if (outside) return {data, type, heads * seq * dim, seq * dim, dim};
    return {data, type, heads * seq * dim, dim, heads * dim};
  }

  static void check(const Case& c, int threads = 1) {
    SCOPED_TRACE(::testing::Message() << "q " << c.q_len << " kv " << c.kv_len << " dim "
                                      << c.head_dim << " v " << c.v_dim << " mask " << c.mask
                                      << " causal " << c.causal << " window " << c.window);
    Random random(static_cast<std::uint32_t>(c.q_len * 7 + c.kv_len));
    const std::vector<float> q =
        random.vector(c.batch * c.heads * c.q_len * c.head_dim, -c.spread, c.spread);
    std::vector<float> k = random.vector(c.batch * c.kv_heads * c.kv_len * c.head_dim);
    std::vector<float> v = random.vector(c.batch * c.kv_heads * c.kv_len * c.v_dim);
    const std::vector<BFloat16> k_bf16 = as_bf16(k);
    const std::vector<BFloat16> v_bf16 = as_bf16(v);
    const std::vector<Half> k_f16 = as_f16(k);
    const std::vector<Half> v_f16 = as_f16(v);
    const void* k_data = k.data();
    const void* v_data = v.data();
    if (c.kv_type == Element::bf16) {
      k_data = k_bf16.data();
      v_data = v_bf16.data();
      for (std::size_t i = 0; i < k.size(); ++i) k[i] = to_float(k_bf16[i]);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = to_float(v_bf16[i]);
    } else if (c.kv_type == Element::f16) {
      k_data = k_f16.data();
      v_data = v_f16.data();
      for (std::size_t i = 0; i < k.size(); ++i) k[i] = to_float(k_f16[i]);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = to_float(v_f16[i]);
    }
    std::vector<float> mask = random.vector(std::max(c.q_len, c.batch) * c.kv_len, -2, 2);
    std::vector<std::uint8_t> bools(mask.size());
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] > 1.0f)
        mask[i] = mask[i] > 1.5f ? -kInfinity : std::numeric_limits<float>::lowest();
      bools[i] = mask[i] > -0.5f ? 1 : 0;
    }
    std::vector<std::int32_t> lengths;
    for (std::int64_t b = 0; b < c.batch; ++b) {
      lengths.push_back(static_cast<std::int32_t>(1 + random.below(c.kv_len)));
    }
    std::vector<float> out(static_cast<std::size_t>(c.batch * c.heads * c.q_len * c.v_dim));
    AttentionArgs args;
    args.batch = c.batch;
    args.heads = c.heads;
    args.kv_heads = c.kv_heads;
    args.q_len = c.q_len;
    args.kv_len = c.kv_len;
    args.head_dim = c.head_dim;
    args.v_head_dim = c.v_dim;
    args.q = view(q.data(), Element::f32, c.heads_outside, c.heads, c.q_len, c.head_dim);
    args.k = view(k_data, c.kv_type, c.heads_outside, c.kv_heads, c.kv_len, c.head_dim);
    args.v = view(v_data, c.kv_type, c.heads_outside, c.kv_heads, c.kv_len, c.v_dim);
    const HeadsView o = view(nullptr, Element::f32, c.heads_outside, c.heads, c.q_len, c.v_dim);
    args.out = out.data();
    args.out_batch_stride = o.batch_stride;
    args.out_head_stride = o.head_stride;
    args.out_seq_stride = o.seq_stride;
    args.scale = 0.35f;
    args.softcap = c.softcap;
    args.causal = c.causal;
    args.causal_offset = c.offset;
    args.window = c.window;
    args.right_window = c.right_window;
    if (c.lengths) args.key_lengths = lengths.data();
    if (c.mask == 1 || c.mask == 2 || c.mask == 3) args.mask = mask.data();
    if (c.mask == 4) args.bool_mask = bools.data();
    args.mask_k_stride = c.mask == 3 ? c.q_len : 1;
    if (c.mask == 1 || c.mask == 4) args.mask_q_stride = c.kv_len;
    if (c.mask == 2) args.mask_batch_stride = c.kv_len;
    if (c.mask == 3) args.mask_q_stride = 1;
    const ThreadScope scope(threads);
    attention(args);

    for (std::int64_t b = 0; b < c.batch; ++b) {
      for (std::int64_t h = 0; h < c.heads; ++h) {
        const std::int64_t kh = h / (c.heads / c.kv_heads);
        for (std::int64_t i = 0; i < c.q_len; ++i) {
          std::vector<double> score(static_cast<std::size_t>(c.kv_len), -INFINITY);
          double top = -INFINITY;
          double squares = 0;
          for (std::int64_t j = 0; j < c.kv_len; ++j) {
            bool visible = true;
            if (c.causal) visible = visible && j <= i + c.offset;
            if (c.window >= 0) visible = visible && j > i + c.offset - c.window;
            if (c.right_window >= 0) visible = visible && j < i + c.offset + c.right_window;
            if (c.lengths) visible = visible && j < lengths[static_cast<std::size_t>(b)];
            if (!visible) continue;
            double s = 0;
            double terms = 0;
            for (std::int64_t x = 0; x < c.head_dim; ++x) {
              const double term =
                  double(q[offset(args.q, b, h, i) + static_cast<std::size_t>(x)]) *
                  double(k[offset(args.k, b, kh, j) + static_cast<std::size_t>(x)]) *
                  double(args.scale);
              s += term;
              terms += term * term;
            }
            squares = std::max(squares, terms);
            if (c.softcap > 0) s = double(c.softcap) * std::tanh(s / double(c.softcap));
            const auto at = static_cast<std::size_t>(
                b * args.mask_batch_stride + i * args.mask_q_stride + j * args.mask_k_stride);
            if (args.mask != nullptr) s += double(mask[at]);
            if (args.bool_mask != nullptr && bools[at] == 0) s = -INFINITY;
            score[static_cast<std::size_t>(j)] = s;
            top = std::max(top, s);
          }
          double sum = 0;
          for (const double s : score) sum += std::exp(s - top);
          for (std::int64_t x = 0; x < c.v_dim; ++x) {
            double y = 0;
            double size = 0;
            for (std::int64_t j = 0; j < c.kv_len; ++j) {
              const double p = std::exp(score[static_cast<std::size_t>(j)] - top) / sum;
              const double term =
                  p * double(v[offset(args.v, b, kh, j) + static_cast<std::size_t>(x)]);
              y += term;
              size += std::abs(term);
            }
            const std::size_t at = offset(o, b, h, i) + static_cast<std::size_t>(x);
            if (std::isnan(y)) {
              ASSERT_TRUE(std::isnan(out[at])) << out[at];
              continue;
            }
            // Relative error of a weight: that of its score (six spreads of a sum of head_dim
            // terms, and an ulp of the score and of its maximum), exp's and the sum's.
            const double length = static_cast<double>(c.head_dim);
            const double score_error =
                6 * std::sqrt(squares * (1 + length / 2) / 3) + 2 * c.spread * 8;
            const double bound = 0x1p-24 * size * (2 * score_error + 24 + double(c.softcap)) + 1e-9;
            ASSERT_NEAR(double(out[at]), y, bound)
                << "b " << b << " h " << h << " i " << i << " x " << x;
          }
        }
      }
    }
  }

  static std::size_t offset(const HeadsView& w, std::int64_t b, std::int64_t h, std::int64_t s) {
    return static_cast<std::size_t>(b * w.batch_stride + h * w.head_stride + s * w.seq_stride);
  }
};

TEST_P(AttentionKernel, OddSizes) {
  for (const std::int64_t q : {1, 2, 3, 6, 7, 13}) {
    for (const std::int64_t kv : {1, 3, 15, 16, 17, 33, 65}) {
      for (const std::int64_t dim : {1, 5, 8, 16, 20, 64}) {
        check({.q_len = q, .kv_len = kv, .head_dim = dim, .v_dim = dim});
      }
    }
  }
  check({.q_len = 9, .kv_len = 20, .head_dim = 24, .v_dim = 80});
  check({.q_len = 1, .kv_len = 20, .head_dim = 96, .v_dim = 70});
  check({.q_len = 1, .kv_len = 40, .head_dim = 128, .v_dim = 128});
}

TEST_P(AttentionKernel, LongSequencesUseSeveralTiles) {
  for (const std::int64_t q : {1, 3, 20}) {
    for (const std::int64_t kv : {255, 256, 257, 600}) {
      check({.q_len = q, .kv_len = kv, .spread = 10.0f}, 2);
      check({.q_len = q, .kv_len = kv, .causal = true, .offset = kv - q}, 2);
      check({.q_len = q, .kv_len = kv, .mask = 1, .causal = true, .offset = kv - q, .window = 70});
    }
  }
  check({.batch = 1, .heads = 2, .kv_heads = 1, .q_len = 500, .kv_len = 500, .causal = true}, 2);
}

TEST_P(AttentionKernel, Layouts) {
  for (const bool outside : {false, true}) {
    for (const std::int64_t q : {1, 11}) {
      for (const Element type : {Element::f32, Element::bf16, Element::f16}) {
        check({.q_len = q, .kv_len = 37, .heads_outside = outside, .kv_type = type});
        check({.heads = 3,
               .kv_heads = 3,
               .q_len = q,
               .kv_len = 37,
               .heads_outside = outside,
               .kv_type = type});
      }
    }
  }
}

TEST_P(AttentionKernel, Masks) {
  for (int mask = 1; mask <= 4; ++mask) {
    for (const std::int64_t q : {1, 4, 9}) {
      for (const std::int64_t kv : {5, 16, 40}) {
        check({.q_len = q, .kv_len = kv, .mask = mask});
        check({.q_len = q, .kv_len = kv, .mask = mask, .causal = true, .offset = kv - q});
        check({.q_len = q, .kv_len = kv, .mask = mask, .softcap = 3.0f});
      }
    }
  }
}

TEST_P(AttentionKernel, Ranges) {
  for (const std::int64_t q : {1, 8, 30}) {
    for (const std::int64_t kv : {8, 31}) {
      for (const std::int64_t offset : {-3, 0, 5}) {
        check({.q_len = q, .kv_len = kv, .causal = true, .offset = offset});
        check({.q_len = q, .kv_len = kv, .causal = true, .offset = offset, .window = 4});
        check({.q_len = q, .kv_len = kv, .offset = offset, .window = 3, .right_window = 6});
        check({.q_len = q, .kv_len = kv, .causal = true, .offset = offset, .lengths = true});
      }
    }
  }
}

TEST_P(AttentionKernel, RowsWithoutKeys) {
  const std::vector<float> data(64, 1.0f);
  for (const std::int64_t q : {1, 8}) {
    for (const bool zero : {false, true}) {
      std::vector<float> out(static_cast<std::size_t>(q * 8), 5.0f);
      AttentionArgs args;
      args.batch = args.heads = args.kv_heads = 1;
      args.q_len = q;
      args.kv_len = 8;
      args.head_dim = args.v_head_dim = 8;
      args.q = args.k = args.v = {data.data(), Element::f32, 64, 64, 8};
      args.out = out.data();
      args.out_seq_stride = 8;
      args.causal = true;
      args.causal_offset = -1;  // the first query sees nothing
      args.empty_rows_zero = zero;
      attention(args);
      for (std::size_t i = 0; i < 8; ++i) {
        if (zero) {
          EXPECT_EQ(out[i], 0.0f);
        } else {
          EXPECT_TRUE(std::isnan(out[i]));
        }
      }
      for (std::size_t i = 8; i < out.size(); ++i) EXPECT_FLOAT_EQ(out[i], 1.0f);
    }
  }
}

CONCORD_FOR_EACH_ISA(AttentionKernel);

}  // namespace
}  // namespace concord::cpu
