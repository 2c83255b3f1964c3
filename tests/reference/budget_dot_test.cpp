#include <cstdio>

#include "tests/reference/simulation.h"

namespace concord::test {
namespace {

constexpr std::int64_t kRows = 16;
constexpr std::int64_t kColumns = 24;

struct Product {
  Tensor a;  // [kRows, length]
  Tensor b;  // [kColumns, length], transposed
  OracleValue oracle;

  Product(std::int64_t length, Data data, const Numerics& numerics, unsigned seed,
          DataType type = DataType::f32) {
    Source source(seed);
    a = source.tensor({kRows, length}, data);
    b = source.tensor({kColumns, length}, data);
    if (type == DataType::f16) {
      for (float& v : a.as_mutable<float>()) v = round_digits(v, kF16Digits);
      for (float& v : b.as_mutable<float>()) v = round_digits(v, kF16Digits);
    }
    const OneNode one = one_node(OpKind::matmul, {a, b}, {{"trans_b", 1L}}, {type});
    std::vector<OracleValue> inputs{reference::from_tensor(a), reference::from_tensor(b)};
    for (OracleValue& v : inputs) v.declared = type;
    oracle = reference::evaluate(one.graph, one.node(), inputs, {}, numerics)[0];
  }

  std::vector<float> by(Dot dot, int store_digits = 24) const {
    std::vector<float> y;
    const std::int64_t length = a.shape()[1];
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < kColumns; ++j) {
        y.push_back(round_digits(
            dot(a.as<float>().data() + i * length, b.as<float>().data() + j * length, length),
            store_digits));
      }
    }
    return y;
  }
};

TEST(BudgetOfDots, HonestOrdersStayWithin) {
  for (const Data data : kAllData) {
    for (const std::int64_t length : {1, 2, 16, 64, 384, 768, 3072, 8192}) {
      const Product product(length, data, with_sigma(), static_cast<unsigned>(length));
      for (const NamedDot& way : kHonestDots) {
        EXPECT_LE(worst_ratio(product.oracle, product.by(way.dot), DataType::f32), 1)
            << way.name << ", " << to_string(data) << ", length " << length;
      }
    }
  }
}

TEST(BudgetOfDots, ReducedPrecisionGoesOver) {
  const NamedDot ways[] = {{"tf32", dot_tf32},
                           {"bf16 operands", dot_bf16_operands},
                           {"f16 sums", dot_f16_sums},
                           {"bf16 sums", dot_bf16_sums}};
  for (const Data data : {Data::normal, Data::positive, Data::shifted, Data::heavy, Data::waves}) {
    for (const std::int64_t length : {16, 64, 384, 768, 3072, 8192}) {
      const Product product(length, data, with_sigma(), static_cast<unsigned>(length));
      for (const NamedDot& way : ways) {
        EXPECT_GT(worst_ratio(product.oracle, product.by(way.dot), DataType::f32), 1)
            << way.name << ", " << to_string(data) << ", length " << length;
      }
    }
  }
}

// What a step declares is what it is held to.
TEST(BudgetOfDots, DeclaredConversionsAreAllowed) {
  StepPrecision tf32;
  tf32.tf32 = true;
  StepPrecision bf16;
  bf16.operand = DataType::bf16;
  for (const Data data : {Data::normal, Data::positive, Data::shifted, Data::heavy}) {
    for (const std::int64_t length : {16, 768, 8192}) {
      const Product product(length, data, with_sigma(tf32), 3);
      EXPECT_LE(worst_ratio(product.oracle, product.by(dot_tf32), DataType::f32), 1);
      EXPECT_GT(worst_ratio(product.oracle, product.by(dot_bf16_operands), DataType::f32), 1)
          << to_string(data) << ", length " << length;
      const Product coarse(length, data, with_sigma(bf16), 3);
      EXPECT_LE(worst_ratio(coarse.oracle, coarse.by(dot_bf16_operands), DataType::f32), 1);
    }
  }
}

TEST(BudgetOfDots, HalfPrecisionTensorsSummedInFloat) {
  const StepPrecision f16{DataType::f16, DataType::f32, DataType::f16, false};
  for (const Data data : {Data::normal, Data::positive, Data::shifted}) {
    for (const std::int64_t length : {16, 64, 768, 3072}) {
      const Product product(length, data, with_sigma(f16), 5, DataType::f16);
      for (const NamedDot& way : kHonestDots) {
        EXPECT_LE(worst_ratio(product.oracle, product.by(way.dot, kF16Digits), DataType::f16), 1)
            << way.name << ", " << to_string(data) << ", length " << length;
      }
      EXPECT_GT(worst_ratio(product.oracle, product.by(dot_f16_sums), DataType::f16), 1)
          << to_string(data) << ", length " << length;
    }
  }
}

// Steps in float64 are held to its own roundoff: the oracle computes them in long double.
TEST(BudgetOfDots, DoublePrecision) {
  const std::int64_t length = 1000;
  const std::int64_t rows = 32;
  Source source(13);
  Tensor a(DataType::f64, {rows, length});
  Tensor b(DataType::f64, {length, 1});
  for (double& v : a.as_mutable<double>()) v = static_cast<double>(source.draw(Data::normal)) / 3;
  for (double& v : b.as_mutable<double>()) v = static_cast<double>(source.draw(Data::normal)) / 7;
  const StepPrecision f64{DataType::f64, DataType::f64, DataType::f64, false};
  const OracleValue y = oracle_run(OpKind::matmul, {a, b}, {}, {DataType::f64}, with_sigma(f64))[0];
  double worst_double = 0;
  double worst_float = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    double wide = 0;
    float narrow = 0;
    for (std::int64_t j = 0; j < length; ++j) {
      const double term = a.at_double(i * length + j) * b.at_double(j);
      wide += term;
      narrow += static_cast<float>(term);
    }
    const double budget =
        reference::budget(y.value.at_double(i), y.sigma.at_double(i), DataType::f64);
    worst_double = std::max(worst_double, std::abs(wide - y.value.at_double(i)) / budget);
    worst_float = std::max(worst_float,
                           std::abs(static_cast<double>(narrow) - y.value.at_double(i)) / budget);
  }
  EXPECT_LE(worst_double, 1);
  EXPECT_GT(worst_double, 0);
  EXPECT_GT(worst_float, 1);
}

TEST(BudgetOfDots, FaultsGoOver) {
  const Product product(768, Data::normal, with_sigma(), 9);
  std::vector<float> y = product.by(dot_lanes);
  y[100] += 1e-3f * std::abs(y[100]) + 1e-4f;
  EXPECT_GT(worst_ratio(product.oracle, y, DataType::f32), 1);
  y = product.by(dot_lanes);
  y[100] = std::nanf("");
  EXPECT_GT(worst_ratio(product.oracle, y, DataType::f32), 1);
  // One ulp is no fault.
  y = product.by(dot_lanes);
  y[100] = std::nextafter(y[100], INFINITY);
  EXPECT_LE(worst_ratio(product.oracle, y, DataType::f32), 1);
}

// A convolution whose taps cancel: channels first its sums on the way stay small, taps first, as
// kernels do whose data has its channels last, they do not.
TEST(BudgetOfDots, ConvolutionsInBothOrders) {
  constexpr std::int64_t kChannels = 256;
  constexpr std::int64_t kTaps = 3;
  constexpr std::int64_t kPlaces = 64;
  Source source(21);
  const Tensor noise = source.tensor({kChannels, kPlaces}, Data::normal);
  Tensor x(DataType::f32, {1, kChannels, kPlaces});
  Tensor w(DataType::f32, {1, kChannels, kTaps});
  for (std::int64_t c = 0; c < kChannels; ++c) {
    for (std::int64_t i = 0; i < kPlaces; ++i) {
      x.as_mutable<float>()[static_cast<std::size_t>(c * kPlaces + i)] =
          1 + 0.01f * noise.as<float>()[static_cast<std::size_t>(c * kPlaces + i)];
    }
    const auto at = static_cast<std::size_t>(c * kTaps);
    w.as_mutable<float>()[at] = w.as_mutable<float>()[at + 2] = -0.5f;
    w.as_mutable<float>()[at + 1] = 1;
  }
  const OracleValue y = oracle_run(
      OpKind::conv, {x, w},
      {{"group", 1L}, {"strides", ints({1})}, {"dilations", ints({1})}, {"pads", ints({0, 0})}},
      {DataType::f32}, with_sigma())[0];
  const auto term = [&](std::int64_t place, std::int64_t c, std::int64_t k) {
    return x.as<float>()[static_cast<std::size_t>(c * kPlaces + place + k)] *
           w.as<float>()[static_cast<std::size_t>(c * kTaps + k)];
  };
  std::vector<float> channels_first;
  std::vector<float> taps_first;
  std::vector<float> coarse;  // sums rounded to float16
  for (std::int64_t place = 0; place + kTaps <= kPlaces; ++place) {
    float sum = 0;
    for (std::int64_t c = 0; c < kChannels; ++c) {
      for (std::int64_t k = 0; k < kTaps; ++k) sum += term(place, c, k);
    }
    channels_first.push_back(sum);
    sum = 0;
    float half = 0;
    for (std::int64_t k = 0; k < kTaps; ++k) {
      for (std::int64_t c = 0; c < kChannels; ++c) {
        sum += term(place, c, k);
        half = round_digits(half + term(place, c, k), kF16Digits);
      }
    }
    taps_first.push_back(sum);
    coarse.push_back(half);
  }
  EXPECT_LE(worst_ratio(y, channels_first, DataType::f32), 1);
  EXPECT_LE(worst_ratio(y, taps_first, DataType::f32), 1);
  EXPECT_GT(worst_ratio(y, taps_first, DataType::f32), 0.02);  // the allowance is not idle
  EXPECT_GT(worst_ratio(y, coarse, DataType::f32), 100);
}

// What lies below a kink by less than its own error may come out above it.
TEST(BudgetOfDots, AFunctionsKink) {
  const Tensor a = f32({2, 2}, {1, 1, 1, 1});
  const float just_more = 1 + 0x1p-23f;
  const OracleValue y =
      oracle_run(OpKind::matmul, {a, f32({2, 2}, {1, 1, -just_more, -2})},
                 {{"activation", std::string("relu")}}, {DataType::f32}, with_sigma())[0];
  EXPECT_EQ(y.value.at_double(0), 0);
  EXPECT_GT(reference::budget(0, y.sigma.at_double(0), DataType::bf16), 0x1p-23);
  EXPECT_EQ(y.sigma.at_double(1), 0);  // −1 is far below
}

// At GELU's least value the slope passes on nothing; operands in bfloat16 are off by enough to see
// the curve.
TEST(BudgetOfDots, AFunctionsCurve) {
  constexpr double kLeast = -0.7517915;
  reference::Numerics numerics = with_sigma();
  numerics.precision.operand = DataType::bf16;
  for (const char* fn : {"gelu_erf", "gelu_tanh", "mish", "identity"}) {
    const double at = fn[0] == 'm' ? -1.1924 : kLeast;
    const Tensor a = f32({1, 2}, {1, 1});
    const Tensor b = f32({2, 1}, {static_cast<float>(at) - 1, 1});
    const OracleValue y = oracle_run(OpKind::matmul, {a, b}, {{"activation", std::string(fn)}},
                                     {DataType::f32}, numerics)[0];
    // The sum is off by up to half a unit of its larger operand's last bit.
    const double off = 0x1p-9 * 1.75;
    const OracleValue moved =
        oracle_run(OpKind::matmul, {a, f32({2, 1}, {static_cast<float>(at + off) - 1, 1})},
                   {{"activation", std::string(fn)}}, {DataType::f32}, numerics)[0];
    const double error = std::abs(moved.value.at_double(0) - y.value.at_double(0));
    EXPECT_LE(error, reference::budget(y.value.at_double(0), y.sigma.at_double(0), DataType::f32))
        << fn;
  }
}

// What lies beside a jump by less than its own error may come out on the other side of it.
TEST(BudgetOfDots, AFunctionsJump) {
  const Tensor a = f32({1, 2}, {1, 1});
  const auto activated = [&](const char* fn, float b, double alpha, double beta) {
    return oracle_run(OpKind::matmul, {a, f32({2, 1}, {0.5f, b})},
                      {{"activation", std::string(fn)}, {"act_alpha", alpha}, {"act_beta", beta}},
                      {DataType::f32}, with_sigma())[0];
  };
  const auto allowed = [](const OracleValue& y) {
    return reference::budget(y.value.at_double(0), y.sigma.at_double(0), DataType::f32);
  };
  const float just_above = 0.5f + 0x1p-24f;
  const float just_below = 0.5f - 0x1p-25f;
  EXPECT_GT(allowed(activated("thresholded_relu", just_above, 1, 0)), 0.99);
  EXPECT_GT(allowed(activated("thresholded_relu", just_below, 1, 0)), 0.99);
  EXPECT_LT(allowed(activated("thresholded_relu", 0.6f, 1, 0)), 1e-5);
  EXPECT_GT(allowed(activated("shrink", just_above, 1, 0.25)), 0.74);
  EXPECT_GT(allowed(activated("shrink", just_below, 1, 0.25)), 0.74);
  EXPECT_LT(allowed(activated("shrink", 0.4f, 1, 0.25)), 1e-5);
}

OracleValue reduced(const Tensor& x, const char* fn) {
  return oracle_run(OpKind::reduce, {x},
                    {{"fn", std::string(fn)}, {"axes", ints({1})}, {"keepdims", 0L}},
                    {DataType::f32}, with_sigma())[0];
}

TEST(BudgetOfSums, HonestOrdersStayWithin) {
  for (const Data data : kAllData) {
    for (const std::int64_t length : {1, 16, 768, 8192}) {
      Source source(static_cast<unsigned>(length) + 1);
      const Tensor x = source.tensor({64, length}, data);
      const std::vector<float> ones(static_cast<std::size_t>(length), 1.0f);
      for (const NamedDot& way : kHonestDots) {
        std::vector<float> sum;
        std::vector<float> mean;
        std::vector<float> norm;
        for (std::int64_t i = 0; i < 64; ++i) {
          const float* row = x.as<float>().data() + i * length;
          sum.push_back(way.dot(row, ones.data(), length));
          mean.push_back(sum.back() / static_cast<float>(length));
          norm.push_back(std::sqrt(way.dot(row, row, length)));
        }
        SCOPED_TRACE(std::string(way.name) + ", " + to_string(data) + ", length " +
                     std::to_string(length));
        EXPECT_LE(worst_ratio(reduced(x, "sum"), sum, DataType::f32), 1);
        EXPECT_LE(worst_ratio(reduced(x, "mean"), mean, DataType::f32), 1);
        EXPECT_LE(worst_ratio(reduced(x, "l2"), norm, DataType::f32), 1);
      }
    }
  }
}

TEST(BudgetOfSums, RunningSums) {
  for (const Data data : kAllData) {
    Source source(11);
    const std::int64_t length = 4096;
    const Tensor x = source.tensor({8, length}, data);
    std::vector<float> sequential;
    std::vector<float> blocked;  // sums within blocks of 64 on top of the blocks' own
    for (std::int64_t i = 0; i < 8; ++i) {
      const float* row = x.as<float>().data() + i * length;
      float sum = 0;
      float before = 0;
      float within = 0;
      for (std::int64_t j = 0; j < length; ++j) {
        sum += row[j];
        sequential.push_back(sum);
        within = j % 64 == 0 ? row[j] : within + row[j];
        blocked.push_back(before + within);
        if (j % 64 == 63) before += within;
      }
    }
    const OracleValue y =
        oracle_run(OpKind::cum_sum, {x, i64({}, {1})}, {{"exclusive", 0L}, {"reverse", 0L}},
                   {DataType::f32}, with_sigma())[0];
    EXPECT_LE(worst_ratio(y, sequential, DataType::f32), 1) << to_string(data);
    EXPECT_LE(worst_ratio(y, blocked, DataType::f32), 1) << to_string(data);
  }
}

TEST(Quantised, NeighboursCountOnlyNearTheMiddle) {
  using reference::quantised_within;
  EXPECT_TRUE(quantised_within(3, 3.4, 0.001, DataType::u8));
  EXPECT_FALSE(quantised_within(4, 3.4, 0.001, DataType::u8));
  EXPECT_TRUE(quantised_within(4, 3.499, 0.001, DataType::u8));
  EXPECT_TRUE(quantised_within(255, 900, 0.001, DataType::u8));
  EXPECT_FALSE(quantised_within(254, 900, 0.001, DataType::u8));
  EXPECT_TRUE(quantised_within(-128, -300, 0.1, DataType::i8));
}

}  // namespace
}  // namespace concord::test
