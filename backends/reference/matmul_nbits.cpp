#include <algorithm>
#include <cmath>

#include "backends/reference/kernel.h"
#include "backends/reference/product.h"
#include "backends/reference/quantization.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

// Weights [n, k] from b [n, blocks, bytes of a block].
std::vector<double> unpack_weights(const Call& call, std::int64_t n, std::int64_t k) {
  const std::int64_t bits = call.attrs().integer("bits");
  const std::int64_t block = call.attrs().integer("block_size");
  if ((bits != 2 && bits != 4 && bits != 8) || block <= 0) {
    throw Error(ErrorKind::unsupported, "weights of " + std::to_string(bits) +
                                            " bits in blocks of " + std::to_string(block));
  }
  const std::int64_t blocks = (k + block - 1) / block;
  const std::int64_t per_byte = 8 / bits;
  const std::int64_t block_bytes = (block + per_byte - 1) / per_byte;
  const unsigned mask = (1u << bits) - 1u;
  const std::vector<double> scales = real_values(call.input(2));
  if (call.input(1).count() != n * blocks * block_bytes ||
      static_cast<std::int64_t>(scales.size()) != n * blocks) {
    throw Error(ErrorKind::invalid, "packed weights of shape " +
                                        to_string(std::span<const std::int64_t>(call.shape(1))) +
                                        " or their scales do not fit " + std::to_string(n) +
                                        " by " + std::to_string(k));
  }
  const std::uint8_t* packed = host::raw<std::uint8_t>(call.input(1)).data();
  // Zero points: packed like the weights, each row on a byte of its own, or one number per block.
  const bool packed_zeros = call.has(3) && call.input(3).dtype() == DataType::u8;
  const std::vector<double> zeros =
      call.has(3) && !packed_zeros ? real_values(call.input(3)) : std::vector<double>{};
  const std::int64_t zero_bytes = (blocks + per_byte - 1) / per_byte;
  if (call.has(3) && call.input(3).count() != n * (packed_zeros ? zero_bytes : blocks)) {
    throw Error(ErrorKind::invalid, "zero points of shape " +
                                        to_string(std::span<const std::int64_t>(call.shape(3))) +
                                        " do not fit " + std::to_string(blocks) + " blocks");
  }
  const auto zero_point = [&](std::int64_t row, std::int64_t at) -> double {
    if (packed_zeros) {
      const std::uint8_t* bytes = host::raw<std::uint8_t>(call.input(3)).data();
      return (bytes[row * zero_bytes + at / per_byte] >> (at % per_byte * bits)) & mask;
    }
    if (!zeros.empty()) return zeros[static_cast<std::size_t>(row * blocks + at)];
    return static_cast<double>(1u << (bits - 1));
  };
  std::vector<double> weights(static_cast<std::size_t>(n * k));
  parallel_for(
      n, grain_for(5.0 * static_cast<double>(k)), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          for (std::int64_t at = 0; at < blocks; ++at) {
            const std::uint8_t* bytes = packed + (row * blocks + at) * block_bytes;
            const double scale = scales[static_cast<std::size_t>(row * blocks + at)];
            const double zero = zero_point(row, at);
            for (std::int64_t i = 0; i < block && at * block + i < k; ++i) {
              const unsigned q = (bytes[i / per_byte] >> (i % per_byte * bits)) & mask;
              weights[static_cast<std::size_t>(row * k + at * block + i)] = (q - zero) * scale;
            }
          }
        }
      });
  return weights;
}

// What rounding the left operand to 8 bits adds to the products' variance, [m, n]: each element
// moves by up to half of its block's largest magnitude / 127, evenly, which is a variance of a
// twelfth of the square of that step.
std::vector<double> row_rounding(const Call& call, std::int64_t m, std::int64_t n, std::int64_t k,
                                 const std::vector<double>& weights) {
  const std::int64_t block = call.attrs().integer("block_size");
  const std::int64_t blocks = (k + block - 1) / block;
  const auto sums = [&](std::int64_t rows, const double* from, auto&& reduce) {
    std::vector<double> result(static_cast<std::size_t>(rows * blocks));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t at = 0; at < k; ++at) {
        double& sum = result[static_cast<std::size_t>(row * blocks + at / block)];
        sum = reduce(sum, from[row * k + at]);
      }
    }
    return result;
  };
  std::vector<double> steps = sums(
      m, call.data(0), [](double largest, double x) { return std::max(largest, std::abs(x)); });
  const double unit = call.unit();
  for (double& step : steps) step = step / 127 * (step / 127) / 12 / (unit * unit);
  const std::vector<double> squares =
      sums(n, weights.data(), [](double sum, double w) { return sum + w * w; });
  std::vector<double> variance(static_cast<std::size_t>(m * n));
  multiply<double>(m, n, blocks, {steps.data(), blocks, 1}, {squares.data(), 1, blocks},
                   variance.data(), nullptr);
  return variance;
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  using Real = real_t<N>;
  const std::int64_t n = call.attrs().integer("n");
  const std::int64_t k = call.attrs().integer("k");
  Shape shape = call.shape(0);
  if (shape.empty() || shape.back() != k) {
    throw Error(ErrorKind::invalid,
                "an operand of shape " + to_string(std::span<const std::int64_t>(shape)) +
                    " does not fit weights of inner extent " + std::to_string(k));
  }
  const std::vector<double> weights = unpack_weights(call, n, k);
  const std::int64_t m = host::extent_product(shape, 0, shape.size() - 1);
  shape.back() = n;
  const double* bias = call.data(4);
  // Each weight is a product that is rounded, to the operand type.
  const auto conversions =
      static_cast<Real>(call.conversion(std::size_t{0}) + std::max(1.0, call.operand_rounding()));
  Output<N> y(call, 0, shape);
  std::vector<Real> products(static_cast<std::size_t>(m * n));
  std::vector<Squares<Real>> squares(kUncertain<N> ? products.size() : 0);
  const double cost = 2.0 * static_cast<double>(m * k);
  parallel_for(panel_count(n), grain_for(cost * kPanel), [&](std::int64_t begin, std::int64_t end) {
    multiply_panels(m, n, k, {call.data(0), k, 1}, {weights.data(), 1, k}, products.data(),
                    kUncertain<N> ? squares.data() : nullptr, begin, end);
  });
  std::vector<double> rounding;
  if (kUncertain<N> && call.numerics.precision.operand == DataType::i8) {
    rounding = row_rounding(call, m, n, k, weights);
  }
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    N value(products[at]);
    if constexpr (kUncertain<N>) {
      value.variance =
          dot_variance<Real>(products[at], squares[at], static_cast<Real>(k), conversions);
      if (!rounding.empty()) value.variance += static_cast<Real>(rounding[at]);
    }
    if (bias != nullptr) value = value + number<N>(bias[i % n]);
    y.set(i, value);
  }
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_matmul_nbits{run};

}  // namespace concord::reference
