#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/attention.h"
#include "tests/gpu/attention_reference.h"
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

}  // namespace
}  // namespace concord::gpu
