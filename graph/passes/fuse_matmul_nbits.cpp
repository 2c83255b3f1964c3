#include <cstring>

#include "graph/passes/list.h"
#include "graph/passes/match.h"

namespace concord::graph {
namespace {

// Elements of 4 bits, low halves first; signed ones shifted to be from 0 to 15.
class Nibbles {
 public:
  explicit Nibbles(const Tensor& tensor)
      : data_(tensor.in_place()), flip_(tensor.dtype() == DataType::i4 ? 8 : 0) {}
  std::uint8_t at(std::int64_t i) const {
    const auto pair = static_cast<std::uint8_t>(data_[i / 2]);
    return static_cast<std::uint8_t>((i % 2 == 0 ? pair & 15 : pair >> 4) ^ flip_);
  }

 private:
  const std::byte* data_;
  std::uint8_t flip_;
};

void set_nibble(std::byte* data, std::int64_t i, std::uint8_t value) {
  data[i / 2] |= static_cast<std::byte>(i % 2 == 0 ? value : value << 4);
}

// Weights [k, n] (by strides) of 4 bits, blocks of k sharing a scale, in matmul_nbits' layout:
// column by column.
struct Weights {
  Tensor values, scales, zeros;
  std::int64_t k, n, block;
  std::int64_t k_stride, n_stride;            // of the values
  std::int64_t block_stride, n_scale_stride;  // of the scales and zeros

  std::int64_t blocks() const { return (k + block - 1) / block; }

  Tensor packed_values() const {
    Tensor to = Tensor::zeros(DataType::u8, {n, blocks(), block / 2});
    std::byte* data = to.mutable_data();
    const Nibbles from(values);
    const std::int64_t column = blocks() * block;
    for (std::int64_t j0 = 0; j0 < n; j0 += 64) {  // lines of what is written stay in the cache
      for (std::int64_t l = 0; l < k; ++l) {
        for (std::int64_t j = j0; j < std::min(n, j0 + 64); ++j) {
          set_nibble(data, j * column + l, from.at(l * k_stride + j * n_stride));
        }
      }
    }
    return to;
  }

  Tensor packed_scales() const {
    Tensor to(DataType::f32, {n, blocks()});
    const auto from = scales.as<float>();
    const auto out = to.as_mutable<float>();
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t b = 0; b < blocks(); ++b) {
        out[static_cast<std::size_t>(j * blocks() + b)] =
            from[static_cast<std::size_t>(b * block_stride + j * n_scale_stride)];
      }
    }
    return to;
  }

  // Without zero points those of signed values are 0, which is where matmul_nbits has its own.
  bool needs_zeros() const { return zeros.defined() || values.dtype() == DataType::u4; }
  Tensor packed_zeros() const {
    const std::int64_t row = (blocks() + 1) / 2;
    Tensor to = Tensor::zeros(DataType::u8, {n, row});
    if (!zeros.defined()) return to;
    std::byte* data = to.mutable_data();
    const Nibbles from(zeros);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t b = 0; b < blocks(); ++b) {
        set_nibble(data + j * row, b, from.at(b * block_stride + j * n_scale_stride));
      }
    }
    return to;
  }
};

std::optional<Weights> weights_of(const Graph& graph, const Node& dequantize, bool trans) {
  const auto& values = graph.value(dequantize.input(0)).constant;
  const auto& scales = graph.value(dequantize.input(1)).constant;
  if (!values || !scales || values->rank() != 2 || scales->rank() != 2) return std::nullopt;
  if (values->dtype() != DataType::i4 && values->dtype() != DataType::u4) return std::nullopt;
  const std::int64_t block = dequantize.attrs.integer("block_size", 0);
  const std::size_t k_axis = trans ? 1 : 0;
  if (scales->dtype() != DataType::f32 || block < 16 || (block & (block - 1)) != 0 ||
      dequantize.attrs.integer("axis") != static_cast<std::int64_t>(k_axis)) {
    return std::nullopt;
  }
  Weights w;
  w.values = *values;
  w.scales = *scales;
  w.k = values->shape()[k_axis];
  w.n = values->shape()[1 - k_axis];
  w.block = block;
  if (w.k == 0 || w.n == 0 || scales->shape()[k_axis] != w.blocks() ||
      scales->shape()[1 - k_axis] != w.n) {
    return std::nullopt;
  }
  w.k_stride = trans ? 1 : w.n;
  w.n_stride = trans ? w.k : 1;
  w.block_stride = trans ? 1 : w.n;
  w.n_scale_stride = trans ? w.blocks() : 1;
  if (dequantize.has_input(2)) {
    const auto& zeros = graph.value(dequantize.input(2)).constant;
    if (!zeros || zeros->shape() != scales->shape()) return std::nullopt;
    w.zeros = *zeros;
  }
  return w;
}

bool fuse(Rewriter& rw, NodeId id) {
  const Node product = rw.node(id);
  const Node* dequantize = rw.producer(product.input(1), OpKind::dequantize);
  const bool plain = product.attrs.integer("trans_a", 0) == 0 &&
                     product.attrs.number("alpha", 1) == 1 && !product.has_input(2) &&
                     !product.has_input(3) && !product.attrs.has("activation");
  if (dequantize == nullptr || !plain || rw.value(product.output()).dtype != DataType::f32 ||
      !rw.single_use(product.input(1))) {
    return false;
  }
  const bool trans = product.attrs.integer("trans_b", 0) != 0;
  const auto weights = weights_of(rw.graph(), *dequantize, trans);
  if (!weights) return false;
  const std::string name = rw.value(dequantize->input(0)).name;
  const NodeId source = rw.producer_id(product.input(1));
  Node node;
  node.op = OpKind::matmul_nbits;
  node.inputs = {product.input(0), rw.add_constant(name, weights->packed_values()),
                 rw.add_constant(name + " scales", weights->packed_scales())};
  if (weights->needs_zeros()) {
    node.inputs.push_back(rw.add_constant(name + " zero points", weights->packed_zeros()));
  }
  node.attrs = {{"bits", std::int64_t{4}},
                {"block_size", weights->block},
                {"k", weights->k},
                {"n", weights->n}};
  rw.replace(id, std::move(node), {source});
  return true;
}

}  // namespace

int fuse_matmul_nbits(Graph& graph, const PassOptions& options) {
  if (!options.quantised_products) return 0;
  return rewrite_each(graph, [](Rewriter& rw, NodeId id) {
    return rw.node(id).op == OpKind::matmul && fuse(rw, id);
  });
}

}  // namespace concord::graph
