// Reductions against plain loops in f64.

#include "backends/cpu/kernels/reduce.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

using Dims = std::vector<std::int64_t>;

class Reduce : public IsaTest {
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

const ReduceOp kAll[] = {
    ReduceOp::sum, ReduceOp::mean, ReduceOp::max,        ReduceOp::min,     ReduceOp::prod,
    ReduceOp::l1,  ReduceOp::l2,   ReduceOp::sum_square, ReduceOp::log_sum, ReduceOp::log_sum_exp};

double reduce_plain(ReduceOp op, const std::vector<double>& x) {
  double sum = 0;
  double product = 1;
  double top = -INFINITY;
  double bottom = INFINITY;
  double squares = 0;
  double absolute = 0;
  double exponentials = 0;
  for (const double v : x) {
    sum += v;
    product *= v;
    top = std::max(top, v);
    bottom = std::min(bottom, v);
    squares += v * v;
    absolute += std::abs(v);
    exponentials += std::exp(v);
  }
  switch (op) {
    case ReduceOp::sum:
      return sum;
    case ReduceOp::mean:
      return sum / static_cast<double>(x.size());
    case ReduceOp::max:
      return top;
    case ReduceOp::min:
      return bottom;
    case ReduceOp::prod:
      return product;
    case ReduceOp::l1:
      return absolute;
    case ReduceOp::l2:
      return std::sqrt(squares);
    case ReduceOp::sum_square:
      return squares;
    case ReduceOp::log_sum:
      return std::log(sum);
    case ReduceOp::log_sum_exp:
      return std::log(exponentials);
  }
  return 0;
}

// The elements that each kept position reduces.
std::vector<std::vector<double>> groups(const Dims& shape, std::uint32_t axes,
                                        const std::vector<double>& x) {
  Dims kept_stride(shape.size(), 0);
  std::int64_t kept = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if ((axes >> i & 1) != 0) continue;
    kept_stride[i] = kept;
    kept *= shape[i];
  }
  std::vector<std::vector<double>> result(static_cast<std::size_t>(kept));
  for (std::size_t at = 0; at < x.size(); ++at) {
    auto rest = static_cast<std::int64_t>(at);
    std::int64_t place = 0;
    for (std::size_t i = shape.size(); i-- > 0;) {
      place += rest % shape[i] * kept_stride[i];
      rest /= shape[i];
    }
    result[static_cast<std::size_t>(place)].push_back(x[at]);
  }
  return result;
}

TEST_P(Reduce, EverySetOfAxes) {
  Random random(1);
  for (const Dims& shape :
       {Dims{4, 3, 5, 70}, Dims{2, 17, 1, 33}, Dims{5}, Dims{300, 3}, Dims{3, 2000}}) {
    const std::int64_t total =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    const std::vector<float> x = random.vector(total, 0.5f, 1.4f);
    const std::vector<double> wide(x.begin(), x.end());
    for (std::uint32_t axes = 0; axes < (1u << shape.size()); ++axes) {
      const auto expected = groups(shape, axes, wide);
      for (const ReduceOp op : kAll) {
        std::vector<float> out(expected.size(), -7.0f);
        reduce(op, Element::f32, shape, axes, x.data(), out.data());
        for (std::size_t i = 0; i < out.size(); ++i) {
          const double y = reduce_plain(op, expected[i]);
          const double n = static_cast<double>(expected[i].size());
          double bound = std::abs(y) * 0x1p-24 * (6 + 4 * std::sqrt(n)) + 1e-30;
          if (op == ReduceOp::log_sum || op == ReduceOp::log_sum_exp) bound += 1e-6;
          ASSERT_NEAR(static_cast<double>(out[i]), y, bound)
              << static_cast<int>(op) << " axes " << axes << " at " << i;
        }
      }
    }
  }
}

TEST_P(Reduce, LongSumsStayAccurate) {
  // Sequential addition in f32 would be off by about n ulp: here 1e-3.
  const std::vector<float> x(1 << 20, 0.1f);
  const Dims shape = {1 << 20};
  float out = 0;
  reduce(ReduceOp::sum, Element::f32, shape, 1, x.data(), &out);
  EXPECT_NEAR(static_cast<double>(out), static_cast<double>(0.1f) * (1 << 20), 0.1);
}

TEST_P(Reduce, EmptyAndNonFinite) {
  const Dims shape = {2, 0, 3};
  std::vector<float> out(6, 5.0f);
  for (const auto& [op, y] : {std::pair{ReduceOp::sum, 0.0f},
                              {ReduceOp::prod, 1.0f},
                              {ReduceOp::max, -INFINITY},
                              {ReduceOp::min, INFINITY},
                              {ReduceOp::log_sum_exp, -INFINITY}}) {
    reduce(op, Element::f32, shape, 2, out.data(), out.data());
    for (const float v : out) EXPECT_EQ(v, y) << static_cast<int>(op);
  }
  reduce(ReduceOp::mean, Element::f32, shape, 2, out.data(), out.data());
  EXPECT_TRUE(std::isnan(out[0]));
  for (const std::size_t n : {3u, 16u, 40u}) {
    for (std::size_t place = 0; place < n; place += 5) {
      std::vector<float> x(n, 1.0f);
      x[place] = NAN;
      float y = 0;
      const Dims one = {static_cast<std::int64_t>(n)};
      const Dims column = {static_cast<std::int64_t>(n), 1};
      for (const ReduceOp op :
           {ReduceOp::max, ReduceOp::min, ReduceOp::sum, ReduceOp::log_sum_exp}) {
        reduce(op, Element::f32, one, 1, x.data(), &y);
        EXPECT_TRUE(std::isnan(y)) << static_cast<int>(op);
        reduce(op, Element::f32, column, 1, x.data(), &y);
        EXPECT_TRUE(std::isnan(y)) << static_cast<int>(op);
      }
    }
  }
  const float lowest[] = {-INFINITY, -INFINITY};
  float y = 0;
  const Dims two = {2};
  reduce(ReduceOp::log_sum_exp, Element::f32, two, 1, lowest, &y);
  EXPECT_EQ(y, -INFINITY);
}

TEST_P(Reduce, OtherTypes) {
  Random random(2);
  const Dims shape = {3, 4, 5};
  std::vector<std::int64_t> x;
  std::vector<double> wide;
  std::vector<Half> halves;
  for (int i = 0; i < 60; ++i) {
    x.push_back(random.below(9) - 4);
    wide.push_back(static_cast<double>(x.back()));
    halves.push_back(to_half(static_cast<float>(x.back())));
  }
  for (std::uint32_t axes = 1; axes < 8; ++axes) {
    const auto expected = groups(shape, axes, wide);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::l1,
                              ReduceOp::sum_square, ReduceOp::prod}) {
      std::vector<std::int64_t> out(expected.size());
      std::vector<double> out64(expected.size());
      std::vector<Half> out16(expected.size());
      reduce(op, Element::i64, shape, axes, x.data(), out.data());
      reduce(op, Element::f64, shape, axes, wide.data(), out64.data());
      reduce(op, Element::f16, shape, axes, halves.data(), out16.data());
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double y = reduce_plain(op, expected[i]);
        if (std::abs(y) < 1e15) {
          ASSERT_EQ(static_cast<double>(out[i]), y);
        }
        ASSERT_EQ(out64[i], y);
        if (std::abs(y) <= 2048) {
          ASSERT_EQ(static_cast<double>(to_float(out16[i])), y);
        }
      }
    }
  }
  EXPECT_FALSE(supports_reduce(ReduceOp::sum, Element::u8));
  EXPECT_TRUE(supports_reduce(ReduceOp::max, Element::u8));
}

TEST_P(Reduce, ArgReduce) {
  Random random(3);
  for (const std::int64_t inner : {1, 4}) {
    std::vector<float> x;
    for (int i = 0; i < 3 * 11 * 4; ++i) x.push_back(static_cast<float>(random.below(5)));
    for (const bool smallest : {false, true}) {
      for (const bool last : {false, true}) {
        const std::int64_t outer = 3;
        const std::int64_t n = 11;
        std::vector<std::int64_t> out(static_cast<std::size_t>(outer * inner));
        arg_reduce({Element::f32, outer, n, inner, x.data(), out.data(), smallest, last});
        for (std::int64_t item = 0; item < outer * inner; ++item) {
          std::int64_t best = 0;
          const auto value = [&](std::int64_t i) {
            return x[static_cast<std::size_t>((item / inner * n + i) * inner + item % inner)];
          };
          for (std::int64_t i = 1; i < n; ++i) {
            const bool better = smallest ? value(i) < value(best) : value(i) > value(best);
            if (better || (last && value(i) == value(best))) best = i;
          }
          ASSERT_EQ(out[static_cast<std::size_t>(item)], best);
        }
      }
    }
  }
  const float nan[] = {1.0f, NAN, 5.0f};
  std::int64_t index = 0;
  arg_reduce({Element::f32, 1, 3, 1, nan, &index, false, false});
  EXPECT_EQ(index, 1);
}

TEST_P(Reduce, CumulativeSum) {
  const std::vector<std::int32_t> x = {1, 2, 3, 4, 5, 6};
  std::vector<std::int32_t> out(6);
  const auto run = [&](bool exclusive, bool reverse) {
    cumulative(CumulativeOp::sum, Element::i32, 1, 3, 2, x.data(), out.data(), exclusive, reverse);
    return out;
  };
  EXPECT_EQ(run(false, false), (std::vector<std::int32_t>{1, 2, 4, 6, 9, 12}));
  EXPECT_EQ(run(true, false), (std::vector<std::int32_t>{0, 0, 1, 2, 4, 6}));
  EXPECT_EQ(run(false, true), (std::vector<std::int32_t>{9, 12, 8, 10, 5, 6}));
  EXPECT_EQ(run(true, true), (std::vector<std::int32_t>{8, 10, 5, 6, 0, 0}));
}

CONCORD_FOR_EACH_ISA(Reduce);

}  // namespace
}  // namespace concord::cpu
