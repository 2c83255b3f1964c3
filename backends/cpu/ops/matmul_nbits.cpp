#include <algorithm>

#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/matmul_plan.h"
#include "backends/cpu/ops/quantise_plan.h"

namespace concord::cpu {
namespace {

enum : int { kA, kB, kScales, kZeros, kBias };

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (auto why = why_not_float(graph, node, {kA, kScales, kBias})) return why;
  for (std::size_t i : {std::size_t{kB}, std::size_t{kScales}, std::size_t{kZeros}}) {
    if (node.has_input(i) && !graph.value(node.input(i)).constant) {
      return "weights that are no constants";
    }
  }
  const std::int64_t width = node.attrs.integer("bits");
  if (width != 2 && width != 4 && width != 8) return std::to_string(width) + "-bit weights";
  return std::nullopt;
}

// Unpacks column n of the weights [n, k]: blocks of block_size values, low bits first. Zero points
// are packed alike, a row of bytes per column, or given in the type of the scales; without them the
// middle of the range is zero.
struct Blocks {
  std::int64_t n, k, bits, block, blocks, bytes;
  const std::uint8_t* packed;
  const float* scales;
  const std::uint8_t* zeros;
  const float* float_zeros;

  void unpack(std::int64_t column, float* to) const {
    const std::int64_t mask = (1 << bits) - 1;
    const std::int64_t zero_bytes = (blocks * bits + 7) / 8;
    for (std::int64_t b = 0; b < blocks; ++b) {
      float zero = static_cast<float>(1 << (bits - 1));
      if (float_zeros != nullptr) {
        zero = float_zeros[column * blocks + b];
      } else if (zeros != nullptr) {
        const std::int64_t bit = b * bits;
        zero = static_cast<float>(zeros[column * zero_bytes + bit / 8] >> (bit % 8) & mask);
      }
      const float scale = scales[column * blocks + b];
      const std::uint8_t* from = packed + (column * blocks + b) * bytes;
      const std::int64_t end = std::min(block, k - b * block);
      for (std::int64_t i = 0; i < end; ++i) {
        const std::int64_t bit = i * bits;
        const auto value = static_cast<float>(from[bit / 8] >> (bit % 8) & mask);
        to[b * block + i] = (value - zero) * scale;
      }
    }
  }
};

PlanFn prepare(Compiler& c) {
  Blocks blocks{};
  blocks.n = c.attrs().integer("n");
  blocks.k = c.attrs().integer("k");
  blocks.bits = c.attrs().integer("bits");
  blocks.block = c.attrs().integer("block_size");
  blocks.blocks = (blocks.k + blocks.block - 1) / blocks.block;
  blocks.bytes = (blocks.block * blocks.bits + 7) / 8;
  blocks.packed = reinterpret_cast<const std::uint8_t*>(c.constant(kB)->data());
  blocks.scales = c.constant_f32(*c.constant(kScales));
  if (const Tensor* zeros = c.constant(kZeros)) {
    if (is_float(zeros->dtype())) {
      blocks.float_zeros = c.constant_f32(*zeros);
    } else {
      blocks.zeros = reinterpret_cast<const std::uint8_t*>(zeros->data());
    }
  }
  AlignedBuffer unpacked(static_cast<std::size_t>(std::max<std::int64_t>(1, blocks.n * blocks.k)) *
                         4);
  parallel_for(blocks.n, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t column = begin; column < end; ++column) {
      blocks.unpack(column, unpacked.as<float>() + column * blocks.k);
    }
  });
  auto weights = std::make_shared<const PackedWeights>(PackedWeights::pack(
      MatrixView{unpacked.data(), Element::f32, blocks.k, blocks.n, 1, blocks.k},
      c.weight_storage(DataType::f32)));
  c.add_weight_bytes(static_cast<std::int64_t>(weights->bytes()));
  c.constant(kB)->release_pages();
  ProductForm form;
  form.bias = kBias;
  return [form, weights](Planner& p) { plan_packed_product(p, form, weights); };
}

}  // namespace

const Lowering cpu_matmul_nbits{
    .why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
