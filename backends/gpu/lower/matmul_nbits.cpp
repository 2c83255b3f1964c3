// Weights of 2, 4 or 8 bits are expanded to the operand's type when they are packed.

#include <algorithm>
#include <vector>

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/matmul_problem.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    if (query.node.has_input(i) && !query.graph.value(query.node.input(i)).is_constant()) {
      return "weights that are no constants";
    }
  }
  if (query.in(0) != DataType::f32 && query.in(0) != DataType::f16) return "another type";
  const std::int64_t width = query.node.attrs.integer("bits");
  if (width != 2 && width != 4 && width != 8) return "weights of other than 2, 4 or 8 bits";
  if (query.node.attrs.integer("block_size") <= 0) return "blocks of no elements";
  return why_no_matmul(query, query.in(0));
}

// Elements of b [n, blocks, bytes], scales and zero points [n, blocks] (packed as b is, each row on
// a byte of its own, if they are bytes).
class NarrowWeights {
 public:
  NarrowWeights(const graph::Attributes& attrs, const Tensor& b, const Tensor& scales,
                const Tensor& zeros)
      : n(attrs.integer("n")),
        k(attrs.integer("k")),
        bits_(attrs.integer("bits")),
        block_(attrs.integer("block_size")),
        blocks_((k + block_ - 1) / block_),
        per_byte_(8 / bits_),
        block_bytes_((block_ + per_byte_ - 1) / per_byte_),
        zero_bytes_((blocks_ + per_byte_ - 1) / per_byte_),
        scales_(scales),
        zeros_(zeros),
        packed_(bytes_of(b)),
        packed_zeros_(zeros.defined() && zeros.dtype() == DataType::u8 ? bytes_of(zeros)
                                                                       : nullptr) {
    const std::int64_t zero_count = packed_zeros_ != nullptr ? n * zero_bytes_ : n * blocks_;
    if (b.count() != n * blocks_ * block_bytes_ || scales.count() != n * blocks_ ||
        (zeros.defined() && zeros.count() != zero_count)) {
      throw Error(ErrorKind::invalid, "packed weights, scales or zero points do not fit " +
                                          std::to_string(n) + " by " + std::to_string(k));
    }
  }

  void expand(std::int64_t row, std::span<float> to) const {
    for (std::int64_t block = 0; block < blocks_; ++block) {
      const std::int64_t at = row * blocks_ + block;
      const std::uint8_t* bytes = packed_ + at * block_bytes_;
      const auto scale = static_cast<float>(scales_.at_double(at));
      const float zero_point = zero(row, block);
      const std::int64_t first = block * block_;
      for (std::int64_t i = 0; i < std::min(block_, k - first); ++i) {
        to[static_cast<std::size_t>(first + i)] = (field(bytes, i) - zero_point) * scale;
      }
    }
  }

  std::int64_t n, k;

 private:
  static const std::uint8_t* bytes_of(const Tensor& tensor) {
    return reinterpret_cast<const std::uint8_t*>(tensor.data());
  }
  float field(const std::uint8_t* bytes, std::int64_t i) const {
    const int mask = (1 << bits_) - 1;
    return static_cast<float>(bytes[i / per_byte_] >> (i % per_byte_ * bits_) & mask);
  }
  float zero(std::int64_t row, std::int64_t block) const {
    if (packed_zeros_ != nullptr) return field(packed_zeros_ + row * zero_bytes_, block);
    if (zeros_.defined()) return static_cast<float>(zeros_.at_double(row * blocks_ + block));
    return static_cast<float>(1 << (bits_ - 1));
  }

  std::int64_t bits_, block_, blocks_, per_byte_, block_bytes_, zero_bytes_;
  const Tensor& scales_;
  Tensor zeros_;
  const std::uint8_t* packed_;
  const std::uint8_t* packed_zeros_;
};

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand y = node.out();
  if (y.count() == 0) return;
  const std::int64_t n = node.attrs().integer("n");
  const std::int64_t k = node.attrs().integer("k");
  const Tensor& scales = node.constant(2);
  const Tensor zeros = node.has(3) ? node.constant(3) : Tensor();
  const Operand w = node.packed(
      1, std::string("expanded_") + type_suffix(x.dtype), x.dtype, {n, k},
      [&](const Tensor& b, std::span<std::byte> target) {
        const NarrowWeights weights(node.attrs(), b, scales, zeros);
        std::vector<float> row(static_cast<std::size_t>(k));
        const auto row_bytes = static_cast<std::size_t>(storage_bytes(x.dtype, k));
        for (std::int64_t i = 0; i < n; ++i) {
          weights.expand(i, row);
          to_storage(Tensor::of<float>({k}, row), x.dtype,
                     target.subspan(static_cast<std::size_t>(i) * row_bytes, row_bytes));
        }
      });
  MatmulProblem p;
  p.a = x;
  p.b = w;
  p.c = y;
  p.m = y.count() / n;
  p.n = n;
  p.k = k;
  p.a_row = k;
  p.b_row = 1;
  p.b_column = k;
  p.c_row = n;
  if (node.has(4)) p.bias = node.in(4);
  emit_matmul(node, p);
}

}  // namespace

const Lowering gpu_matmul_nbits{why, lower};

}  // namespace concord::gpu
