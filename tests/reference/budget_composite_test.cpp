#include <algorithm>

#include "tests/reference/simulation.h"

namespace concord::test {
namespace {

// --- Functions: what float32 libraries and the usual formulas give
// ---------------------------------

float sigmoid32(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}
float gelu_erf32(float x) {
  return 0.5f * x * (1.0f + std::erf(x * 0.70710678f));
}
float gelu_tanh32(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
}
float softplus32(float x) {
  return x > 0 ? x + std::log(std::exp(-x) + 1.0f) : std::log(std::exp(x) + 1.0f);
}

struct Function {
  const char* name;
  float (*imitation)(float);
  float low;
  float high;
  double alpha = 0;
  double beta = 0;
};

const Function kFunctions[] = {
    {"exp", [](float x) { return std::exp(x); }, -80, 80},
    {"log", [](float x) { return std::log(x); }, 1e-6f, 100},
    {"tanh", [](float x) { return std::tanh(x); }, -10, 10},
    {"erf", [](float x) { return std::erf(x); }, -5, 5},
    {"sin", [](float x) { return std::sin(x); }, -50, 50},
    {"cos", [](float x) { return std::cos(x); }, -50, 50},
    {"sqrt", [](float x) { return std::sqrt(x); }, 0, 100},
    {"rsqrt", [](float x) { return 1.0f / std::sqrt(x); }, 1e-3f, 100},
    {"reciprocal", [](float x) { return 1.0f / x; }, 1e-3f, 100},
    {"sigmoid", sigmoid32, -80, 80},
    {"silu", [](float x) { return x * sigmoid32(x); }, -80, 80},
    {"quick_gelu", [](float x) { return x * sigmoid32(1.702f * x); }, -40, 40, 1.702},
    {"gelu_erf", gelu_erf32, -6, 6},
    {"gelu_tanh", gelu_tanh32, -6, 6},
    {"softplus", softplus32, -40, 40},
    {"mish", [](float x) { return x * std::tanh(softplus32(x)); }, -20, 20},
    {"elu", [](float x) { return x < 0 ? std::exp(x) - 1.0f : x; }, -10, 10, 1},
    {"hard_sigmoid", [](float x) { return std::max(0.0f, std::min(1.0f, 0.2f * x + 0.5f)); }, -5, 5,
     static_cast<double>(0.2f), 0.5},
    {"hard_swish",
     [](float x) { return x * std::max(0.0f, std::min(1.0f, x * (1.0f / 6) + 0.5f)); }, -5, 5},
    {"softsign", [](float x) { return x / (1.0f + std::abs(x)); }, -10, 10},
    {"atan", [](float x) { return std::atan(x); }, -10, 10},
    {"asinh", [](float x) { return std::asinh(x); }, -10, 10},
    {"square", [](float x) { return x * x; }, -10, 10},
    {"relu", [](float x) { return std::max(0.0f, x); }, -10, 10},
    {"round", [](float x) { return std::nearbyint(x); }, -10, 10},
};

TEST(BudgetOfFunctions, HonestOnesStayWithin) {
  for (const Function& f : kFunctions) {
    const std::int64_t n = 20001;
    Tensor x(DataType::f32, {n});
    std::vector<float> y;
    for (std::int64_t i = 0; i < n; ++i) {
      float& v = x.as_mutable<float>()[static_cast<std::size_t>(i)];
      v = f.low + (f.high - f.low) * static_cast<float>(i) / static_cast<float>(n - 1);
      y.push_back(f.imitation(v));
    }
    const OracleValue oracle = oracle_run(
        OpKind::unary, {x}, {{"fn", std::string(f.name)}, {"alpha", f.alpha}, {"beta", f.beta}},
        {DataType::f32}, with_sigma())[0];
    EXPECT_LE(worst_ratio(oracle, y, DataType::f32), 1) << f.name;
    // As many digits as TF32 has are too few wherever something is computed.
    if (oracle.sigma.as<double>()[7] == 0) continue;
    for (float& v : y) v = round_digits(v, kTf32Digits);
    EXPECT_GT(worst_ratio(oracle, y, DataType::f32), 1) << f.name;
  }
}

TEST(BudgetOfFunctions, TheOtherSpellingOfGeluGoesOver) {
  Source source(1);
  const Tensor x = source.tensor({1000}, Data::normal);
  std::vector<float> y;
  for (const float v : x.as<float>()) y.push_back(gelu_tanh32(v));
  const OracleValue oracle = oracle_run(OpKind::unary, {x}, {{"fn", std::string("gelu_erf")}},
                                        {DataType::f32}, with_sigma())[0];
  EXPECT_GT(worst_ratio(oracle, y, DataType::f32), 1);
}

// --- Norms
// -----------------------------------------------------------------------------------------

struct Norm {
  std::int64_t width = 768;
  float epsilon = 1e-5f;
  int digits = 24;
  bool two_pass = true;

  std::vector<float> operator()(const Tensor& x, Dot dot) const {
    std::vector<float> y;
    const std::vector<float> ones(static_cast<std::size_t>(width), 1.0f);
    for (std::int64_t r = 0; r < x.count() / width; ++r) {
      std::vector<float> row(x.as<float>().begin() + r * width,
                             x.as<float>().begin() + (r + 1) * width);
      const auto n = static_cast<float>(width);
      for (float& v : row) v = round_digits(v, digits);
      const float mean = round_digits(dot(row.data(), ones.data(), width) / n, digits);
      float variance = dot(row.data(), row.data(), width) / n - mean * mean;
      for (float& v : row) v = round_digits(v - mean, digits);
      if (two_pass) variance = dot(row.data(), row.data(), width) / n;
      const float scale = 1.0f / std::sqrt(round_digits(variance, digits) + epsilon);
      for (const float v : row) y.push_back(v * scale);
    }
    return y;
  }
};

OracleValue layer_norm(const Tensor& x, double epsilon) {
  return oracle_run(OpKind::layer_norm, {x}, {{"axis", 1L}, {"epsilon", epsilon}}, {DataType::f32},
                    with_sigma())[0];
}

TEST(BudgetOfNorms, HonestOnesStayWithin) {
  for (const Data data : {Data::normal, Data::positive, Data::shifted, Data::heavy}) {
    Source source(21);
    for (const float shift : {0.0f, 30.0f}) {
      Tensor x = source.tensor({40, 768}, data);
      for (float& v : x.as_mutable<float>()) v += shift;
      const OracleValue oracle = layer_norm(x, 1e-5f);
      for (const NamedDot& way : kHonestDots) {
        EXPECT_LE(worst_ratio(oracle, Norm{}(x, way.dot), DataType::f32), 1)
            << way.name << ", " << to_string(data) << " + " << shift;
      }
    }
  }
}

TEST(BudgetOfNorms, FaultsGoOver) {
  Source source(22);
  const Tensor x = source.tensor({40, 768}, Data::normal);
  const OracleValue oracle = layer_norm(x, 1e-5f);
  Norm half;
  half.digits = kF16Digits;
  EXPECT_GT(worst_ratio(oracle, half(x, dot_lanes), DataType::f32), 1);
  Norm wrong_epsilon;
  wrong_epsilon.epsilon = 1e-4f;
  EXPECT_GT(worst_ratio(oracle, wrong_epsilon(x, dot_lanes), DataType::f32), 1);
  // E[x²] − E[x]² cancels when the mean is large.
  Tensor far = source.tensor({40, 768}, Data::normal);
  for (float& v : far.as_mutable<float>()) v += 100;
  Norm one_pass;
  one_pass.two_pass = false;
  EXPECT_GT(worst_ratio(layer_norm(far, 1e-5f), one_pass(far, dot_lanes), DataType::f32), 1);
  EXPECT_LE(worst_ratio(layer_norm(far, 1e-5f), Norm{}(far, dot_lanes), DataType::f32), 1);
}

// --- Softmax and attention
// -------------------------------------------------------------------------

std::vector<float> softmax32(std::vector<float> row) {
  const float highest = *std::max_element(row.begin(), row.end());
  float sum = 0;
  for (float& v : row) {
    v = std::exp(v - highest);
    sum += v;
  }
  for (float& v : row) v /= sum;
  return row;
}

TEST(BudgetOfSoftmax, HonestOnesStayWithinAndCoarseOnesGoOver) {
  for (const float spread : {0.1f, 1.0f, 10.0f, 50.0f}) {
    for (const std::int64_t width : {3, 128, 4096}) {
      Source source(31);
      Tensor x = source.tensor({20, width}, Data::normal);
      for (float& v : x.as_mutable<float>()) v *= spread;
      std::vector<float> y;
      for (std::int64_t r = 0; r < 20; ++r) {
        const auto row =
            softmax32({x.as<float>().begin() + r * width, x.as<float>().begin() + (r + 1) * width});
        y.insert(y.end(), row.begin(), row.end());
      }
      const OracleValue oracle =
          oracle_run(OpKind::softmax, {x}, {{"axis", 1L}}, {DataType::f32}, with_sigma())[0];
      EXPECT_LE(worst_ratio(oracle, y, DataType::f32), 1) << spread << ", width " << width;
      for (float& v : y) v = round_digits(v, kF16Digits);
      EXPECT_GT(worst_ratio(oracle, y, DataType::f32), 1) << spread << ", width " << width;
    }
  }
}

struct Heads {
  std::int64_t queries = 32;
  std::int64_t keys = 200;
  std::int64_t depth = 64;
  Tensor q, k, v;
  OracleValue oracle;

  explicit Heads(float spread, const Numerics& numerics = with_sigma()) {
    Source source(41);
    q = source.tensor({1, 1, queries, depth}, Data::normal);
    k = source.tensor({1, 1, keys, depth}, Data::normal);
    v = source.tensor({1, 1, keys, depth}, Data::normal);
    for (float& x : q.as_mutable<float>()) x *= spread;
    oracle = oracle_run(OpKind::attention, {q, k, v},
                        {{"q_layout", std::string("bhsd")},
                         {"k_layout", std::string("bhsd")},
                         {"v_layout", std::string("bhsd")},
                         {"y_layout", std::string("bhsd")},
                         {"scale", 0.125}},
                        {DataType::f32}, numerics)[0];
  }

  // Scores, softmax, product; probabilities kept to so many digits.
  std::vector<float> plain(Dot dot, int digits) const {
    std::vector<float> y;
    const float* keys_at = k.as<float>().data();
    const float* values = v.as<float>().data();
    for (std::int64_t i = 0; i < queries; ++i) {
      std::vector<float> row;
      for (std::int64_t j = 0; j < keys; ++j) {
        row.push_back(0.125f * dot(q.as<float>().data() + i * depth, keys_at + j * depth, depth));
      }
      row = softmax32(row);
      for (float& p : row) p = round_digits(p, digits);
      for (std::int64_t d = 0; d < depth; ++d) {
        std::vector<float> column;
        for (std::int64_t j = 0; j < keys; ++j) column.push_back(values[j * depth + d]);
        y.push_back(dot(row.data(), column.data(), keys));
      }
    }
    return y;
  }

  // Online softmax over blocks of keys, as flash attention has it.
  std::vector<float> online() const {
    std::vector<float> y;
    for (std::int64_t i = 0; i < queries; ++i) {
      float highest = -INFINITY;
      float sum = 0;
      std::vector<float> out(static_cast<std::size_t>(depth), 0.0f);
      for (std::int64_t j = 0; j < keys; ++j) {
        const float score = 0.125f * dot_lanes(q.as<float>().data() + i * depth,
                                               k.as<float>().data() + j * depth, depth);
        const float before = highest;
        highest = std::max(highest, score);
        const float shrink = std::exp(before - highest);
        const float p = std::exp(score - highest);
        sum = sum * shrink + p;
        for (std::int64_t d = 0; d < depth; ++d) {
          float& o = out[static_cast<std::size_t>(d)];
          o = std::fma(p, v.as<float>()[static_cast<std::size_t>(j * depth + d)], o * shrink);
        }
      }
      for (const float o : out) y.push_back(o / sum);
    }
    return y;
  }
};

TEST(BudgetOfAttention, HonestOnesStayWithinAndCoarseOnesGoOver) {
  for (const float spread : {0.3f, 1.0f, 6.0f}) {
    const Heads heads(spread);
    for (const NamedDot& way : kHonestDots) {
      EXPECT_LE(worst_ratio(heads.oracle, heads.plain(way.dot, 24), DataType::f32), 1)
          << way.name << ", " << spread;
    }
    EXPECT_LE(worst_ratio(heads.oracle, heads.online(), DataType::f32), 1) << spread;
    EXPECT_GT(worst_ratio(heads.oracle, heads.plain(dot_tf32, 24), DataType::f32), 1) << spread;
    EXPECT_GT(worst_ratio(heads.oracle, heads.plain(dot_lanes, kF16Digits), DataType::f32), 1)
        << spread;
    EXPECT_GT(worst_ratio(heads.oracle, heads.plain(dot_f16_sums, 24), DataType::f32), 1) << spread;
  }
}

TEST(BudgetOfAttention, ProbabilitiesInTheOperandType) {
  // The tensors count as f16 (they are coarser than f16 needs only in range), sums are f32.
  const StepPrecision f16{DataType::f16, DataType::f32, DataType::f32, false};
  const Heads heads(1.0f, with_sigma(f16));
  EXPECT_LE(worst_ratio(heads.oracle, heads.plain(dot_lanes, kF16Digits), DataType::f32), 1);
  EXPECT_GT(worst_ratio(heads.oracle, heads.plain(dot_lanes, kBf16Digits), DataType::f32), 1);
}

// --- Fused chains
// ----------------------------------------------------------------------------------

TEST(BudgetOfEpilogues, CancellationAfterAProductIsAllowedFor) {
  // x·w + bias where the bias nearly takes the product away: the error is the product's.
  Source source(51);
  const Tensor a = source.tensor({16, 512}, Data::positive);
  const Tensor b = source.tensor({512, 1}, Data::positive);
  Tensor bias(DataType::f32, {16, 1});
  std::vector<float> y;
  for (std::int64_t i = 0; i < 16; ++i) {
    const float product = dot_sequential(a.as<float>().data() + i * 512, b.as<float>().data(), 512);
    bias.as_mutable<float>()[static_cast<std::size_t>(i)] = -round_digits(product, 20);
    y.push_back(product + bias.as<float>()[static_cast<std::size_t>(i)]);
  }
  const OracleValue oracle =
      oracle_run(OpKind::matmul, {a, b, bias}, {}, {DataType::f32}, with_sigma())[0];
  EXPECT_LE(worst_ratio(oracle, y, DataType::f32), 1);
}

}  // namespace
}  // namespace concord::test
