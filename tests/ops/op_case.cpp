#include "tests/ops/op_case.h"

#include <cmath>
#include <numbers>

namespace concord::ops_test {
namespace {

// SplitMix64: small, portable, the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double gaussian() {
    return std::sqrt(-2 * std::log(1 - unit())) * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  std::uint64_t state_;
};

double draw(const Fill& fill, Random& random, std::int64_t i) {
  switch (fill.kind) {
    case Fill::Kind::normal:
      return fill.low + fill.high * random.gaussian();
    case Fill::Kind::uniform:
      return fill.low + (fill.high - fill.low) * random.unit();
    case Fill::Kind::integers:
      return fill.low + std::floor(random.unit() * (fill.high - fill.low + 1));
    case Fill::Kind::values:
      return fill.list[static_cast<std::size_t>(i) % fill.list.size()];
    case Fill::Kind::bits:
      break;
  }
  return 0;
}

void store_bits(Tensor& tensor, std::int64_t i, int width, std::uint64_t stored) {
  std::byte* data = tensor.mutable_data();
  if (width < 8) {
    const std::int64_t bit = i * width;
    const auto mask = static_cast<std::uint8_t>(((1u << width) - 1) << (bit % 8));
    auto byte = static_cast<std::uint8_t>(data[bit / 8]);
    byte = static_cast<std::uint8_t>((byte & ~mask) | (stored << (bit % 8) & mask));
    data[bit / 8] = static_cast<std::byte>(byte);
    return;
  }
  for (int b = 0; b < width / 8; ++b) {
    data[i * width / 8 + b] = static_cast<std::byte>(stored >> (8 * b) & 0xff);
  }
}

// The i-th pattern of edge_bits for a number of `width` bits.
std::uint64_t edge_pattern(std::int64_t i, int width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const std::uint64_t patterns[] = {0, ~std::uint64_t{0},   sign, sign - 1,
                                    1, 0x5555555555555555u, 2};
  return patterns[i % 7] & (sign | (sign - 1));
}

void store_edge(Tensor& tensor, std::int64_t i) {
  const DataType dtype = tensor.dtype();
  if (dtype == DataType::boolean) return store_bits(tensor, i, 8, i % 3 == 0 ? 1 : 0);
  const int width = bits(dtype);
  if (!is_complex(dtype)) return store_bits(tensor, i, width, edge_pattern(i, width));
  store_bits(tensor, 2 * i, width / 2, edge_pattern(i, width / 2));
  store_bits(tensor, 2 * i + 1, width / 2, edge_pattern(i + 3, width / 2));
}

void store(Tensor& tensor, std::int64_t i, double value) {
  const DataType dtype = tensor.dtype();
  if (is_complex(dtype)) {
    const DataType part = dtype == DataType::c64 ? DataType::f32 : DataType::f64;
    store_bits(tensor, 2 * i, bits(part), float_to_bits(part, value));
    store_bits(tensor, 2 * i + 1, bits(part), float_to_bits(part, -value / 2));
    return;
  }
  std::uint64_t stored = 0;
  if (dtype == DataType::boolean) {
    stored = value != 0 ? 1 : 0;
  } else if (is_float(dtype)) {
    stored = float_to_bits(dtype, value);
  } else {
    stored = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  store_bits(tensor, i, bits(dtype), stored);
}

}  // namespace

Tensor make_tensor(const Operand& operand, std::uint64_t seed) {
  Tensor tensor = Tensor::zeros(operand.dtype, operand.shape);
  Random random(seed);
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    if (operand.fill.kind == Fill::Kind::bits) {
      store_edge(tensor, i);
    } else {
      store(tensor, i, draw(operand.fill, random, i));
    }
  }
  return tensor;
}

std::vector<DataType> all_types() {
  std::vector<DataType> types;
  for (int number = 1; number <= static_cast<int>(DataType::i2); ++number) {
    const auto type = static_cast<DataType>(number);
    if (type != DataType::string) types.push_back(type);
  }
  return types;
}

}  // namespace concord::ops_test
