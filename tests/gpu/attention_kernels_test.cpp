#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/attention_flash.h"
#include "tests/gpu/attention_reference.h"
#include "tests/gpu/half.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"

namespace concord::gpu {
namespace {

const double kUnit = std::ldexp(1.0, -24);

// A mask with some keys hidden, and for kind 2 also the whole first row.
struct Mask {
  Buffer buffer;
  std::vector<float> values;
  std::vector<int> flags;
  int batch_stride, head_stride, query_stride;

  explicit Mask(const AttentionCase& c) {
    const int count = c.mask_batches * c.mask_heads * c.mask_queries * c.keys;
    flags = integers(count, 0, 3, 5);
    values = normal(count, 6);
    for (int i = 0; i < count; ++i) {
      if (flags[i] == 0) values[i] = -INFINITY;
    }
    if (c.mask_kind == 2) std::fill(flags.begin(), flags.begin() + c.keys, 0);
    buffer = c.mask_kind == 2 ? upload(flags) : upload(values);
    query_stride = c.mask_queries == 1 ? 0 : c.keys;
    head_stride = c.mask_heads == 1 ? 0 : c.mask_queries * c.keys;
    batch_stride = c.mask_batches == 1 ? 0 : c.mask_heads * c.mask_queries * c.keys;
  }
  int row(int b, int h, int i) const {
    return b * batch_stride + h * head_stride + i * query_stride;
  }
};

std::vector<int> lengths_of(const AttentionCase& c) {
  std::vector<int> lengths(c.batch, c.keys);
  for (int b = 0; c.lengths && b < c.batch; ++b) lengths[b] = std::max(c.keys - 2 - b, 0);
  return lengths;
}

const AttentionCase kCases[] = {
    {.queries = 5, .keys = 1},
    {.batch = 2, .heads = 3, .queries = 7, .keys = 19, .scale = 0.3f},
    {.heads = 2, .queries = 9, .keys = 130, .mask_kind = 1, .scale = 0.5f},
    {.batch = 2,
     .heads = 2,
     .queries = 6,
     .keys = 33,
     .mask_kind = 1,
     .mask_batches = 2,
     .mask_heads = 2,
     .mask_queries = 6},
    {.batch = 2,
     .heads = 2,
     .queries = 6,
     .keys = 17,
     .mask_kind = 2,
     .mask_batches = 2,
     .mask_queries = 6},
    {.queries = 6, .keys = 17, .mask_kind = 2, .mask_queries = 6, .nan_to_zero = true},
    {.heads = 2, .queries = 20, .keys = 20, .causal = true},
    {.queries = 5, .keys = 40, .causal = true, .causal_offset = 35, .window = 8},
    {.queries = 8, .keys = 6, .causal = true, .causal_offset = -3},
    {.queries = 8, .keys = 6, .causal = true, .causal_offset = -3, .nan_to_zero = true},
    {.batch = 3, .heads = 2, .queries = 4, .keys = 11, .lengths = true, .scale = 2.0f, .cap = 5.0f},
};

class AttentionSoftmax : public testing::TestWithParam<int> {};

TEST_P(AttentionSoftmax, MatchesPlainLoops) {
  if (GetParam() == 8 && test_device().properties().subgroup_size < 8) {
    GTEST_SKIP() << "needs a subgroup of 8";
  }
  for (const AttentionCase& c : kCases) {
    SCOPED_TRACE(testing::Message() << "case " << &c - kCases);
    const int rows = c.batch * c.heads * c.queries;
    const int pitch = c.keys + 3;
    const std::vector<float> scores = normal(static_cast<std::size_t>(rows) * pitch, 1, 3.0f);
    const std::vector<int> lengths = lengths_of(c);
    const Mask mask(c);
    const Buffer buffer = upload(scores);
    const Buffer length_buffer = upload(lengths);
    kernels::AttentionParams params;
    params.scores = buffer.ptr;
    if (c.mask_kind != 0) params.mask = mask.buffer.ptr;
    if (c.lengths) params.lengths = length_buffer.ptr;
    params.rows = rows;
    params.heads = c.heads;
    params.queries = c.queries;
    params.keys = c.keys;
    params.pitch = pitch;
    params.mask_batch = mask.batch_stride;
    params.mask_head = mask.head_stride;
    params.mask_query = mask.query_stride;
    params.mask_key = 1;
    params.mask_kind = c.mask_kind;
    params.causal = c.causal ? 1 : 0;
    params.causal_offset = c.causal_offset;
    params.window = c.window;
    params.scale = c.scale;
    params.cap = c.cap;
    params.nan_to_zero = c.nan_to_zero ? 1 : 0;
    launch(std::string("attention_softmax") + (c.cap != 0 ? "_capped" : "") + "_wave" +
               std::to_string(GetParam()) + "_f32",
           rows_of_groups(rows), params);
    const std::vector<float> y = download<float>(buffer, scores.size());
    for (int r = 0; r < rows; ++r) {
      const int b = r / c.queries / c.heads;
      const int h = r / c.queries % c.heads;
      const int i = r % c.queries;
      std::vector<double> row(scores.begin() + r * pitch, scores.begin() + r * pitch + c.keys);
      const int at = mask.row(b, h, i);
      const std::vector<double> p =
          probabilities(c, row, lengths[b], i, c.mask_kind == 1 ? mask.values.data() + at : nullptr,
                        c.mask_kind == 2 ? mask.flags.data() + at : nullptr);
      for (int j = 0; j < c.keys; ++j) {
        const float got = y[r * pitch + j];
        if (std::isnan(p[j])) {
          ASSERT_TRUE(std::isnan(got)) << r << ", " << j;
        } else if (p[j] == 0) {
          ASSERT_EQ(got, 0.0f) << r << ", " << j;
        } else {
          ASSERT_LE(std::abs(got - p[j]), kUnit * p[j] * (60 + c.keys / 4.0) + 1.2e-38)
              << r << ", " << j;
        }
      }
      for (int j = c.keys; j < pitch; ++j) ASSERT_EQ(y[r * pitch + j], scores[r * pitch + j]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionSoftmax, testing::Values(8, 32, 256));

// Index of a row of [batch, heads, rows, depth] or [batch, rows, heads, depth].
std::size_t row_index(bool sequence_first, int b, int h, int i, int heads, int rows) {
  return sequence_first ? (static_cast<std::size_t>(b) * rows + i) * heads + h
                        : (static_cast<std::size_t>(b) * heads + h) * rows + i;
}

struct FlashCase {
  AttentionCase c;
  int layout = 0;
  int shared_batch = 0;
};

template <class T>
void check_flash(const FlashCase& f, const std::string& width, const std::string& type,
                 const std::function<std::vector<T>(const std::vector<float>&)>& store,
                 const std::function<double(T)>& load, double tolerance) {
  const AttentionCase& c = f.c;
  SCOPED_TRACE(testing::Message() << "width " << width << " layout " << f.layout << " queries "
                                  << c.queries << " keys " << c.keys << " depth " << c.depth);
  const int k_batches = (f.shared_batch & 2) != 0 ? 1 : c.batch;
  const int v_batches = (f.shared_batch & 4) != 0 ? 1 : c.batch;
  const auto q = store(normal(c.batch * c.heads * c.queries * c.depth, 1));
  const auto k = store(normal(k_batches * c.kv_heads * c.keys * c.depth, 2));
  const auto v = store(normal(v_batches * c.kv_heads * c.keys * c.v_depth, 3));
  const std::size_t y_count = static_cast<std::size_t>(c.batch) * c.heads * c.queries * c.v_depth;
  const std::vector<int> lengths = lengths_of(c);
  const Mask mask(c);
  const Buffer half_mask = upload(to_half(mask.values));
  const Buffer q_buffer = upload(q);
  const Buffer k_buffer = upload(k);
  const Buffer v_buffer = upload(v);
  const Buffer y_buffer = upload(std::vector<T>(y_count + 1, T(7)));
  const Buffer length_buffer = upload(lengths);
  kernels::AttentionFlashParams params;
  params.q = q_buffer.ptr;
  params.k = k_buffer.ptr;
  params.v = v_buffer.ptr;
  params.y = y_buffer.ptr;
  if (c.mask_kind != 0) {
    params.mask = c.mask_kind == 1 && type == "f16" ? half_mask.ptr : mask.buffer.ptr;
  }
  if (c.lengths) params.lengths = length_buffer.ptr;
  params.heads = c.heads;
  params.kv_heads = c.kv_heads;
  params.queries = c.queries;
  params.keys = c.keys;
  params.depth = c.depth;
  params.v_depth = c.v_depth;
  params.layout = f.layout;
  params.shared_batch = f.shared_batch;
  params.mask_batch = mask.batch_stride;
  params.mask_head = mask.head_stride;
  params.mask_query = mask.query_stride;
  params.mask_key = 1;
  params.mask_kind = c.mask_kind;
  params.causal = c.causal ? 1 : 0;
  params.causal_offset = c.causal_offset;
  params.window = c.window;
  params.scale = c.scale;
  params.cap = c.cap;
  params.nan_to_zero = c.nan_to_zero ? 1 : 0;
  const int tile = width == "256" ? 16 : width.find("coop") != std::string::npos ? 64 : 32;
  launch("attention_flash" + width + "_" + type,
         {static_cast<std::uint32_t>((c.queries + tile - 1) / tile),
          static_cast<std::uint32_t>(c.heads), static_cast<std::uint32_t>(c.batch)},
         params);
  const std::vector<T> y = download<T>(y_buffer, y_count + 1);
  EXPECT_EQ(y.back(), T(7));
  for (int b = 0; b < c.batch; ++b) {
    for (int h = 0; h < c.heads; ++h) {
      const int kv_head = h / (c.heads / c.kv_heads);
      const int kb = k_batches == 1 ? 0 : b;
      const int vb = v_batches == 1 ? 0 : b;
      for (int i = 0; i < c.queries; ++i) {
        const auto q_row = row_index((f.layout & 1) != 0, b, h, i, c.heads, c.queries) * c.depth;
        std::vector<double> scores(c.keys);
        for (int j = 0; j < c.keys; ++j) {
          const auto k_row =
              row_index((f.layout & 2) != 0, kb, kv_head, j, c.kv_heads, c.keys) * c.depth;
          for (int d = 0; d < c.depth; ++d) scores[j] += load(q[q_row + d]) * load(k[k_row + d]);
        }
        const int at = mask.row(b, h, i);
        std::vector<float> added(mask.values.begin() + at, mask.values.begin() + at + c.keys);
        if (type == "f16") added = rounded_to_half(added);
        const std::vector<double> p =
            probabilities(c, scores, lengths[b], i, c.mask_kind == 1 ? added.data() : nullptr,
                          c.mask_kind == 2 ? mask.flags.data() + at : nullptr);
        const auto y_row = row_index((f.layout & 8) != 0, b, h, i, c.heads, c.queries) * c.v_depth;
        for (int d = 0; d < c.v_depth; ++d) {
          double exact = 0;
          double magnitude = 0;
          for (int j = 0; j < c.keys; ++j) {
            const auto v_row =
                row_index((f.layout & 4) != 0, vb, kv_head, j, c.kv_heads, c.keys) * c.v_depth;
            exact += p[j] * load(v[v_row + d]);
            magnitude += p[j] * std::abs(load(v[v_row + d]));
          }
          const double got = load(y[y_row + d]);
          if (std::isnan(exact)) {
            ASSERT_TRUE(std::isnan(got));
          } else {
            ASSERT_LE(std::abs(got - exact), tolerance * magnitude + 1e-7) << i << ", " << d;
          }
        }
      }
    }
  }
}

std::vector<FlashCase> flash_cases() {
  std::vector<FlashCase> cases;
  for (AttentionCase c : kCases) {
    c.depth = 24;
    c.v_depth = 24;
    c.kv_heads = c.heads;
    cases.push_back({c});
  }
  for (int layout : {1, 2, 4, 8, 15}) {
    cases.push_back({{.batch = 2,
                      .heads = 4,
                      .kv_heads = 2,
                      .queries = 37,
                      .keys = 45,
                      .depth = 17,
                      .v_depth = 33,
                      .causal = true,
                      .causal_offset = 8,
                      .scale = 0.25f},
                     layout});
  }
  cases.push_back({{.batch = 2,
                    .heads = 2,
                    .kv_heads = 1,
                    .queries = 5,
                    .keys = 9,
                    .depth = 64,
                    .v_depth = 64,
                    .scale = 0.125f},
                   0,
                   6});
  return cases;
}

// Depths up to `width`.
std::vector<FlashCase> flash_cases(int width) {
  std::vector<FlashCase> cases = flash_cases();
  if (width > 64) {
    cases.push_back({{.heads = 2,
                      .kv_heads = 2,
                      .queries = 40,
                      .keys = 50,
                      .depth = width,
                      .v_depth = width - 5,
                      .causal = true,
                      .scale = 0.08f}});
  }
  return cases;
}

class AttentionFlash : public testing::TestWithParam<int> {};

TEST_P(AttentionFlash, MatchesPlainLoops) {
  for (const FlashCase& f : flash_cases(GetParam())) {
    check_flash<float>(
        f, std::to_string(GetParam()), "f32", [](const std::vector<float>& x) { return x; },
        [](float x) { return double{x}; }, 1e-5);
    if (HasFailure()) return;
  }
}

TEST_P(AttentionFlash, MatchesPlainLoopsInF16) {
  if (!runs_here("attention_flash64_f16")) GTEST_SKIP() << "the device has no 16-bit floats";
  for (const FlashCase& f : flash_cases()) {
    check_flash<std::uint16_t>(
        f, std::to_string(GetParam()), "f16",
        [](const std::vector<float>& x) { return to_half(x); },
        [](std::uint16_t x) { return double{half_value(x)}; }, 1e-3);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionFlash, testing::Values(64, 128, 256));

// Probabilities are rounded to the operands' type, by 2^-11 and 2^-8 of each at most.
class AttentionOnMatrixUnits : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!runs_here("attention_flash64_coop_f16")) GTEST_SKIP() << "the device has no matrix units";
  }
  std::string width() const { return std::to_string(GetParam()) + "_coop"; }
};

TEST_P(AttentionOnMatrixUnits, MatchesPlainLoopsInF16) {
  for (const FlashCase& f : flash_cases(GetParam())) {
    check_flash<std::uint16_t>(
        f, width(), "f16", [](const std::vector<float>& x) { return to_half(x); },
        [](std::uint16_t x) { return double{half_value(x)}; }, 1.5e-3);
    if (HasFailure()) return;
  }
}

TEST_P(AttentionOnMatrixUnits, MatchesPlainLoopsInF16ThatIsCopied) {
  for (FlashCase f : flash_cases(GetParam())) {
    f.c.depth = f.c.depth / 8 * 8;  // whole vectors
    f.c.v_depth = f.c.v_depth / 8 * 8;
    check_flash<std::uint16_t>(
        f, width() + "_copied", "f16", [](const std::vector<float>& x) { return to_half(x); },
        [](std::uint16_t x) { return double{half_value(x)}; }, 1.5e-3);
    if (HasFailure()) return;
  }
}

TEST_P(AttentionOnMatrixUnits, MatchesPlainLoopsInBf16) {
  const auto rounded = [](std::vector<float> x) {
    for (float& value : x) {
      value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000U);
    }
    return x;
  };
  for (const FlashCase& f : flash_cases(GetParam())) {
    check_flash<float>(
        f, width(), "bf16", rounded, [](float x) { return double{x}; }, 4.5e-3);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionOnMatrixUnits, testing::Values(64, 128));

}  // namespace
}  // namespace concord::gpu
