// Copies, transpositions, pads, gathers, scatters, rotary embedding against plain loops.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/gather.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/kernels/rotary.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t count_of(const Dims& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::uint8_t> random_bytes(std::int64_t n) {
  Random random(static_cast<std::uint32_t>(n));
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(n));
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
  return bytes;
}

// Calls f for each index of the shape.
template <typename F>
void for_each_index(const Dims& shape, F f) {
  Dims index(shape.size(), 0);
  for (std::int64_t i = 0; i < count_of(shape); ++i) {
    f(index);
    for (std::size_t a = shape.size(); a-- > 0;) {
      if (++index[a] < shape[a]) break;
      index[a] = 0;
    }
  }
}

std::int64_t dot(const Dims& index, const Dims& stride) {
  return std::inner_product(index.begin(), index.end(), stride.begin(), std::int64_t{0});
}

Dims dense_strides(const Dims& shape) {
  Dims stride(shape.size());
  std::int64_t dense = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    stride[i] = dense;
    dense *= shape[i];
  }
  return stride;
}

class Movement : public IsaTest {
 protected:
  void SetUp() override {
    IsaTest::SetUp();
    scope_.emplace(2);
  }
  void TearDown() override {
    scope_.reset();
    IsaTest::TearDown();
  }

 private:
  std::optional<ThreadScope> scope_;
};

void check_copy(std::size_t bytes, const Dims& shape, const Dims& src_stride, std::int64_t src_size,
                const Dims& dst_stride, std::int64_t dst_size, std::int64_t src_start = 0) {
  const auto size = static_cast<std::int64_t>(bytes);
  const std::vector<std::uint8_t> src = random_bytes(src_size * size);
  std::vector<std::uint8_t> dst(static_cast<std::size_t>(dst_size * size), 0xee);
  std::vector<std::uint8_t> expected = dst;
  for_each_index(shape, [&](const Dims& index) {
    std::memcpy(expected.data() + dot(index, dst_stride) * size,
                src.data() + (src_start + dot(index, src_stride)) * size, bytes);
  });
  copy_strided(bytes, shape, src.data() + src_start * size, src_stride, dst.data(), dst_stride);
  ASSERT_EQ(dst, expected);
}

TEST_P(Movement, TransposesOfEverySizeAndOrder) {
  for (const std::size_t bytes : {1u, 2u, 4u, 8u, 16u}) {
    for (const Dims& shape : {Dims{3, 5}, Dims{16, 16}, Dims{17, 33}, Dims{1, 7}, Dims{70, 130}}) {
      const Dims stride = dense_strides(shape);
      const Dims out = {shape[1], shape[0]};
      check_copy(bytes, out, {stride[1], stride[0]}, count_of(shape), dense_strides(out),
                 count_of(shape));
    }
    std::array<int, 4> perm = {0, 1, 2, 3};
    do {
      const Dims shape = {3, 4, 6, 5};
      const Dims stride = dense_strides(shape);
      Dims out(4);
      Dims from(4);
      for (std::size_t i = 0; i < 4; ++i) {
        out[i] = shape[static_cast<std::size_t>(perm[i])];
        from[i] = stride[static_cast<std::size_t>(perm[i])];
      }
      check_copy(bytes, out, from, count_of(shape), dense_strides(out), count_of(shape));
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST_P(Movement, LargeTransposeThroughTheShorthand) {
  const Dims shape = {2, 130, 3, 67};
  const std::array<int, 4> perm = {0, 2, 3, 1};
  std::vector<std::int32_t> src(static_cast<std::size_t>(count_of(shape)));
  std::iota(src.begin(), src.end(), 0);
  std::vector<std::int32_t> dst(src.size());
  transpose(4, shape, perm, src.data(), dst.data());
  std::size_t at = 0;
  const Dims stride = dense_strides(shape);
  for_each_index({2, 3, 67, 130}, [&](const Dims& i) {
    ASSERT_EQ(dst[at++], dot({i[0], i[3], i[1], i[2]}, stride));
  });
}

TEST_P(Movement, SlicesStepsReversalsAndExpansions) {
  for (const std::size_t bytes : {1u, 2u, 4u, 8u, 16u}) {
    check_copy(bytes, {4, 6}, {10, 1}, 100, {6, 1}, 24, 23);   // a slice
    check_copy(bytes, {4, 5}, {20, 2}, 100, {5, 1}, 20);       // with steps
    check_copy(bytes, {4, 5}, {-10, -1}, 60, {5, 1}, 20, 45);  // reversed
    check_copy(bytes, {7, 9}, {0, 1}, 9, {9, 1}, 63);          // a row repeated
    check_copy(bytes, {7, 9}, {1, 0}, 7, {9, 1}, 63);          // a column repeated
    check_copy(bytes, {300}, {0}, 1, {1}, 300);                // one element
    check_copy(bytes, {3, 8}, {8, 1}, 24, {20, 1}, 60);        // into a wider tensor
    check_copy(bytes, {2, 3, 4}, {12, 4, 1}, 24, {30, 10, 2}, 80);
    check_copy(bytes, {}, {}, 1, {}, 1);
    check_copy(bytes, {0, 3}, {3, 1}, 1, {3, 1}, 1);
    check_copy(bytes, {200, 150}, {150, 1}, 30000, {150, 1}, 30000);
  }
}

TEST_P(Movement, Pad) {
  for (const PadMode mode : {PadMode::constant, PadMode::reflect, PadMode::edge, PadMode::wrap}) {
    for (const auto& [before, after] : {std::pair<Dims, Dims>{{1, 2}, {3, 1}},
                                        {{0, 0}, {0, 5}},
                                        {{-1, 2}, {1, -2}},
                                        {{7, 9}, {4, 11}}}) {
      const Dims shape = {4, 5};
      std::vector<std::int32_t> src(20);
      std::iota(src.begin(), src.end(), 1);
      const Dims out = {shape[0] + before[0] + after[0], shape[1] + before[1] + after[1]};
      std::vector<std::int32_t> dst(static_cast<std::size_t>(count_of(out)), -5);
      const std::int32_t value = 99;
      pad(4, shape, src.data(), before, after, mode, &value, dst.data());
      const auto place = [&](std::int64_t i, std::int64_t n) -> std::int64_t {
        if (mode == PadMode::constant) return i >= 0 && i < n ? i : -1;
        if (mode == PadMode::edge) return std::clamp<std::int64_t>(i, 0, n - 1);
        while (i < 0 || i >= n) {
          if (mode == PadMode::wrap) i += i < 0 ? n : -n;
          if (mode == PadMode::reflect) i = i < 0 ? -i : 2 * (n - 1) - i;
        }
        return i;
      };
      const std::int64_t top = before[0], left = before[1];
      std::size_t at = 0;
      for_each_index(out, [&](const Dims& i) {
        const std::int64_t r = place(i[0] - top, 4);
        const std::int64_t c = place(i[1] - left, 5);
        const std::int32_t expected =
            r < 0 || c < 0 ? value : static_cast<std::int32_t>(r * 5 + c + 1);
        ASSERT_EQ(dst[at++], expected) << static_cast<int>(mode) << " at " << i[0] << ", " << i[1];
      });
    }
  }
}

TEST_P(Movement, Gather) {
  const std::int64_t outer = 3;
  const std::int64_t axis = 7;
  for (const std::int64_t inner : {1, 3, 200}) {
    for (const std::size_t bytes : {1u, 2u, 4u, 8u, 16u}) {
      const auto size = static_cast<std::int64_t>(bytes);
      const std::vector<std::uint8_t> src = random_bytes(outer * axis * inner * size);
      const std::vector<std::int64_t> wide = {0, 6, -1, -7, 3, 3};
      const std::vector<std::int32_t> narrow = {0, 6, -1, -7, 3, 3};
      for (const bool use_narrow : {false, true}) {
        const Indices indices{use_narrow ? static_cast<const void*>(narrow.data()) : wide.data(),
                              use_narrow ? Element::i32 : Element::i64, 6};
        std::vector<std::uint8_t> dst(static_cast<std::size_t>(outer * 6 * inner * size));
        std::int64_t bad = 0;
        ASSERT_TRUE(gather(bytes, outer, axis, inner, src.data(), indices, dst.data(), &bad));
        for (std::int64_t o = 0; o < outer; ++o) {
          for (std::size_t i = 0; i < 6; ++i) {
            const std::int64_t place = (wide[i] + axis) % axis;
            ASSERT_EQ(
                std::memcmp(dst.data() + (o * 6 + static_cast<std::int64_t>(i)) * inner * size,
                            src.data() + (o * axis + place) * inner * size,
                            static_cast<std::size_t>(inner * size)),
                0);
          }
        }
      }
    }
  }
}

TEST_P(Movement, BadIndicesAreReported) {
  const std::vector<float> src(20);
  std::vector<float> dst(5000, 0.0f);
  std::vector<std::int64_t> wrong(5000, 2);
  wrong[1234] = 20;
  wrong[4000] = -21;
  std::int64_t bad = 0;
  EXPECT_FALSE(
      gather(4, 1, 20, 1, src.data(), {wrong.data(), Element::i64, 5000}, dst.data(), &bad));
  EXPECT_EQ(bad, 20);
  const Dims shape = {20};
  const Dims index_shape = {5000};
  EXPECT_FALSE(gather_elements(4, shape, index_shape, 0, src.data(),
                               {wrong.data(), Element::i64, 5000}, dst.data(), &bad));
  EXPECT_EQ(bad, 20);
  EXPECT_FALSE(gather_nd(4, 1, 5000, shape, 1, src.data(), {wrong.data(), Element::i64, 5000},
                         dst.data(), &bad));
  EXPECT_EQ(bad, 20);
  std::vector<float> data(20);
  EXPECT_FALSE(scatter_nd(Element::f32, ScatterOp::add, 5000, shape, 1,
                          {wrong.data(), Element::i64, 5000}, dst.data(), data.data(), &bad));
  EXPECT_EQ(bad, 20);
  EXPECT_FALSE(scatter_elements(Element::f32, ScatterOp::none, shape, index_shape, 0,
                                {wrong.data(), Element::i64, 5000}, dst.data(), data.data(),
                                dense_strides(shape), &bad));
  EXPECT_EQ(bad, 20);
}

TEST_P(Movement, GatherAndScatterElements) {
  Random random(1);
  const Dims data_shape = {4, 6, 5};
  const Dims index_shape = {3, 6, 4};
  for (int axis = 0; axis < 3; ++axis) {
    const std::vector<float> data = random.vector(120);
    const std::vector<float> updates = random.vector(72);
    std::vector<std::int64_t> indices;
    for (int i = 0; i < 72; ++i) {
      const std::int64_t n = data_shape[static_cast<std::size_t>(axis)];
      indices.push_back(random.below(2 * n) - n);
    }
    const Indices view{indices.data(), Element::i64, 72};
    const Dims stride = dense_strides(data_shape);
    std::int64_t bad = 0;
    std::vector<float> gathered(72);
    ASSERT_TRUE(gather_elements(4, data_shape, index_shape, axis, data.data(), view,
                                gathered.data(), &bad));
    for (const ScatterOp op :
         {ScatterOp::none, ScatterOp::add, ScatterOp::mul, ScatterOp::max, ScatterOp::min}) {
      std::vector<float> scattered = data;
      std::vector<float> expected = data;
      std::size_t at = 0;
      for_each_index(index_shape, [&](const Dims& i) {
        Dims place = i;
        const auto a = static_cast<std::size_t>(axis);
        place[a] = (indices[at] + data_shape[a]) % data_shape[a];
        const auto offset = static_cast<std::size_t>(dot(place, stride));
        ASSERT_EQ(gathered[at], data[offset]);
        float& target = expected[offset];
        switch (op) {
          case ScatterOp::none:
            target = updates[at];
            break;
          case ScatterOp::add:
            target += updates[at];
            break;
          case ScatterOp::mul:
            target *= updates[at];
            break;
          case ScatterOp::max:
            target = std::max(target, updates[at]);
            break;
          case ScatterOp::min:
            target = std::min(target, updates[at]);
            break;
        }
        ++at;
      });
      ASSERT_TRUE(scatter_elements(Element::f32, op, data_shape, index_shape, axis, view,
                                   updates.data(), scattered.data(), stride, &bad));
      ASSERT_EQ(scattered, expected);
    }
  }
}

TEST_P(Movement, GatherAndScatterNd) {
  Random random(2);
  const Dims axes = {4, 5};
  const std::int64_t inner = 3;
  const std::int64_t batch = 2;
  const std::int64_t count = 6;
  const std::vector<float> data = random.vector(batch * 20 * inner);
  std::vector<std::int32_t> indices;
  for (int i = 0; i < batch * count; ++i) {
    indices.push_back(static_cast<std::int32_t>(random.below(8) - 4));
    indices.push_back(static_cast<std::int32_t>(random.below(10) - 5));
  }
  std::vector<float> out(static_cast<std::size_t>(batch * count * inner));
  std::int64_t bad = 0;
  ASSERT_TRUE(gather_nd(4, batch, count, axes, inner, data.data(),
                        {indices.data(), Element::i32, batch * count * 2}, out.data(), &bad));
  std::vector<float> scattered(20 * 3, 1.0f);
  std::vector<float> expected = scattered;
  for (std::int64_t t = 0; t < batch * count; ++t) {
    const std::int64_t r = (indices[static_cast<std::size_t>(2 * t)] + 4) % 4;
    const std::int64_t c = (indices[static_cast<std::size_t>(2 * t + 1)] + 5) % 5;
    for (std::int64_t i = 0; i < inner; ++i) {
      const float value =
          data[static_cast<std::size_t>(((t / count * 20) + r * 5 + c) * inner + i)];
      ASSERT_EQ(out[static_cast<std::size_t>(t * inner + i)], value);
      if (t < count) expected[static_cast<std::size_t>((r * 5 + c) * inner + i)] += value;
    }
  }
  ASSERT_TRUE(scatter_nd(Element::f32, ScatterOp::add, count, axes, inner,
                         {indices.data(), Element::i32, count * 2}, out.data(), scattered.data(),
                         &bad));
  EXPECT_EQ(scattered, expected);
}

TEST_P(Movement, Rotary) {
  Random random(3);
  const std::int64_t batch = 2;
  const std::int64_t heads = 3;
  const std::int64_t seq = 4;
  for (const std::int64_t dim : {2, 10, 64, 70}) {
    for (const std::int64_t rotary_dim : {dim, dim / 2 / 2 * 2}) {
      for (const bool interleaved : {false, true}) {
        for (const Element type : {Element::f32, Element::f16, Element::bf16}) {
          for (const bool ids : {false, true}) {
            const std::int64_t half = rotary_dim / 2;
            const std::vector<float> x = random.vector(batch * seq * heads * dim);
            const std::vector<Half> x_f16 = as_f16(x);
            const std::vector<BFloat16> x_bf16 = as_bf16(x);
            const std::vector<float> cosine = random.vector(9 * half);
            const std::vector<float> sine = random.vector(9 * half);
            std::vector<std::int64_t> positions;
            for (int i = 0; i < batch * seq; ++i) positions.push_back(random.below(9));
            std::vector<float> out(x.size());
            std::vector<std::uint16_t> out16(x.size());
            RotaryArgs args;
            args.batch = batch;
            args.heads = heads;
            args.seq = seq;
            args.head_dim = dim;
            args.rotary_dim = rotary_dim;
            const void* data = type == Element::f32   ? static_cast<const void*>(x.data())
                               : type == Element::f16 ? static_cast<const void*>(x_f16.data())
                                                      : x_bf16.data();
            args.x = {data, type, seq * heads * dim, dim, heads * dim};
            args.out = type == Element::f32 ? static_cast<void*>(out.data()) : out16.data();
            args.out_batch_stride = heads * seq * dim;  // written as [batch, heads, seq, dim]
            args.out_head_stride = seq * dim;
            args.out_seq_stride = dim;
            args.interleaved = interleaved;
            args.cos = cosine.data();
            args.sin = sine.data();
            args.table_stride = half;
            if (ids) {
              args.position_ids = positions.data();
              args.position_batch_stride = seq;
            }
            rotary(args);
            const auto value = [&](std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t i) {
              const auto at = static_cast<std::size_t>(((b * seq + s) * heads + h) * dim + i);
              if (type == Element::f16) return double(to_float(x_f16[at]));
              if (type == Element::bf16) return double(to_float(x_bf16[at]));
              return double(x[at]);
            };
            for_each_index({batch, heads, seq, dim}, [&](const Dims& n) {
              const std::int64_t i = n[3];
              const std::int64_t p =
                  ids ? positions[static_cast<std::size_t>(n[0] * seq + n[2])] : n[2];
              double y = value(n[0], n[1], n[2], i);
              if (i < rotary_dim) {
                const std::int64_t pair = interleaved ? i / 2 : i % half;
                const bool first = interleaved ? i % 2 == 0 : i < half;
                const std::int64_t other = interleaved ? i ^ 1 : (first ? i + half : i - half);
                const double c = double(cosine[static_cast<std::size_t>(p * half + pair)]);
                const double s = double(sine[static_cast<std::size_t>(p * half + pair)]);
                y = y * c + (first ? -1 : 1) * value(n[0], n[1], n[2], other) * s;
              }
              const auto at =
                  static_cast<std::size_t>(dot(n, {heads * seq * dim, seq * dim, dim, 1}));
              double got = double(out[at]);
              double bound = 3e-7;
              if (type == Element::f16) {
                got = double(to_float(Half{out16[at]}));
                bound = 1e-3;
              } else if (type == Element::bf16) {
                got = double(to_float(BFloat16{out16[at]}));
                bound = 8e-3;
              }
              ASSERT_NEAR(got, y, bound);
            });
          }
        }
      }
    }
  }
}

CONCORD_FOR_EACH_ISA(Movement);

}  // namespace
}  // namespace concord::cpu
