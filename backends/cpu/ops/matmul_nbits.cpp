#include <algorithm>

#include "backends/cpu/kernels/matmul_nibbles.h"
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

// ONNX Runtime's layout of 4-bit weights, as NibbleMatrix reads it.
std::uint32_t octet_of(const void* source, std::int64_t column, std::int64_t row) {
  const auto& b = *static_cast<const Blocks*>(source);
  std::uint32_t values = 0;
  const std::uint8_t* from =
      b.packed + (column * b.blocks + row / b.block) * b.bytes + row % b.block / 2;
  for (int i = 0; i < 4; ++i) values |= static_cast<std::uint32_t>(from[i]) << (8 * i);
  return values;
}
float scale_of(const void* source, std::int64_t column, std::int64_t block) {
  const auto& b = *static_cast<const Blocks*>(source);
  return b.scales[column * b.blocks + block];
}
std::uint8_t zero_of(const void* source, std::int64_t column, std::int64_t block) {
  const auto& b = *static_cast<const Blocks*>(source);
  if (b.zeros == nullptr) return 8;
  const std::uint8_t pair = b.zeros[column * ((b.blocks + 1) / 2) + block / 2];
  return block % 2 == 0 ? pair & 15 : pair >> 4;
}

// Weights that stay 4 bits wide. With `quantise` the rows are rounded to 8 bits.
PlanFn prepare_nibbles(Compiler& c, const Blocks& blocks, bool quantise) {
  const NibbleMatrix matrix{blocks.k, blocks.n, blocks.block, octet_of, scale_of, zero_of, &blocks};
  auto weights = std::make_shared<const PackedNibbles>(PackedNibbles::pack(matrix));
  c.add_weight_bytes(static_cast<std::int64_t>(weights->bytes()));
  c.keep(weights);
  c.constant(kB)->release_pages();
  quantise = quantise && can_quantise_rows(*weights);
  return [weights, quantise](Planner& p) {
    const Dims y = p.out_shape();
    MatmulArgs args;
    args.rows = y.count() / weights->n();
    args.lda = weights->k();
    args.ldc = weights->n();
    const Ref a = p.in_f32(kA);
    const Ref bias = p.in_f32(kBias);
    const Ref rows =
        quantise ? p.scratch(QuantisedRows::bytes(args.rows, weights->k(), weights->block()))
                 : Ref{};
    const Ref out = p.out_f32(0);
    p.precision({quantise ? DataType::i8 : DataType::f32, DataType::f32, p.out_dtype(), false});
    p.emit(quantise ? "matmul_nbits 4x8" : "matmul_nbits 4x32",
           2.0 * static_cast<double>(y.count()) * static_cast<double>(weights->k()),
           [args, weights = weights.get(), a, bias, rows, out](const Frame& f) {
             MatmulArgs now = args;
             now.a = f.at(a);
             now.c = f.at(out);
             now.epilogue.bias = f.at<float>(bias);
             matmul_nibbles(*weights, now, f.at(rows));
           });
  };
}

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
  if (blocks.bits == 4 && blocks.block % 8 == 0 && blocks.float_zeros == nullptr &&
      c.weight_storage(DataType::f32) == Element::f32) {
    // The model says how much accuracy it wants; a precision that the user asks for goes before.
    const Precision asked = c.options().precision;
    const bool quantise =
        asked == Precision::int8 ||
        (c.attrs().integer("accuracy_level", 0) == 4 && asked == Precision::model);
    return prepare_nibbles(c, blocks, quantise);
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
