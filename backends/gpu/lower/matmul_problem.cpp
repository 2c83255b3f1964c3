#include "backends/gpu/lower/matmul_problem.h"

#include <algorithm>
#include <iterator>

#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

struct Choice {
  std::string kernel;
  std::int64_t rows = 0;  // results per workgroup
  std::int64_t columns = 0;
};

// Types that have but one kernel, without activations.
bool simple(DataType storage) {
  return storage != DataType::f32 && storage != DataType::f16;
}

bool even(const Shape& strides) {
  return std::ranges::all_of(strides, [](std::int64_t stride) { return stride % 2 == 0; });
}

// Whether a's and b's values can be loaded two at a time (matmul_wave_i64.slang).
bool loads_pairs(const MatmulProblem& p) {
  if (p.a_column != 1 || p.a_row % 2 != 0) return false;
  if (!even(p.a_batch) || !even(p.b_batch)) return false;
  if (p.a.offset % 8 != 0 || p.b.offset % 8 != 0) return false;
  if (p.b_column == 1) return p.n % 2 == 0 && p.b_row % 2 == 0;
  return p.b_row == 1 && p.b_column % 2 == 0;
}

// The kernel's epilogue in its name. CPU drivers run both sides of every branch, so that one which
// can do all (an empty name) costs all; only some kernels have more than the plain one.
std::string epilogue(const MatmulProblem& p, bool many) {
  constexpr const char* kNames[] = {"plain_", "relu_", "gelu_erf_", "gelu_tanh_", "silu_"};
  if (p.bias_per_row) return {};
  if (p.residual.defined()) return many && p.activation == 0 ? "residual_" : "";
  if (p.activation == 0) return kNames[0];
  if (!many || p.activation >= static_cast<std::int32_t>(std::size(kNames))) return {};
  return kNames[p.activation];
}

// On a CPU driver every load costs the same, so that kernels differ in how many products they make
// of one; subgroups exchange values almost for free.
Choice choose_for_cpu(const MatmulProblem& p, const DeviceProperties& device) {
  if (!device.abilities.subgroups || device.subgroup_size < 8) return {"matmul_direct_", 8, 64};
  if (!device.abilities.i64 || !loads_pairs(p)) {
    if (p.m <= 2) return {"matmul_wave2_" + epilogue(p, false), 2, 32};
    return {"matmul_wave16_" + epilogue(p, false), 16, 32};
  }
  if (p.b_row == 1 && p.k % 4 == 0) {
    if (p.m <= 2) return {"matmul_wave2x64_quads_" + epilogue(p, false), 2, 64};
    const bool fills_tall_tiles = p.m >= 64 || (p.m + 15) / 16 % 2 == 0;
    if (fills_tall_tiles || p.n <= 32)
      return {"matmul_wave32x32_quads_" + epilogue(p, true), 32, 32};
    return {"matmul_wave16x64_quads_" + epilogue(p, true), 16, 64};
  }
  const std::string layout = p.b_column == 1 ? "_pairs_" : "_pairs_transposed_";
  if (p.m <= 2) return {"matmul_wave2x64" + layout + epilogue(p, false), 2, 64};
  if (p.n <= 32) return {"matmul_wave16x32" + layout + epilogue(p, false), 16, 32};
  return {"matmul_wave16x64" + layout + epilogue(p, false), 16, 64};
}

constexpr std::int64_t kFewRows = 4;  // where memory is the limit, and no tile is filled

// Whether results in tiles of this size give a GPU's many processors something to do.
bool is_enough(const MatmulProblem& p, std::int64_t batches, std::int64_t tile) {
  constexpr std::int64_t kEnoughGroups = 128;
  return ((p.m + tile - 1) / tile) * ((p.n + tile - 1) / tile) * batches >= kEnoughGroups;
}

Choice choose_for_gpu(const MatmulProblem& p, std::int64_t batches) {
  if (p.m <= kFewRows) {
    return p.b_row == 1 ? Choice{"matmul_gemv_transposed_", 1, 8} : Choice{"matmul_gemv_", 1, 32};
  }
  for (const std::int64_t tile : {128, 64}) {
    if (is_enough(p, batches, tile))
      return {"matmul_tile" + std::to_string(tile) + "_", tile, tile};
  }
  return {"matmul_tile32_", 32, 32};
}

// Whether an operand's matrices, and its rows `pitch` elements apart, begin at multiples of 16
// bytes.
bool lies_in_vectors(const Operand& operand, std::int64_t pitch, const Shape& batch) {
  constexpr std::int64_t kElements = 8;
  const auto fits = [](std::int64_t stride) { return stride % kElements == 0; };
  return operand.offset % 16 == 0 && fits(pitch) && std::ranges::all_of(batch, fits);
}

// The infix of the kernel for matrix units that copies a and b as they lie, and so while others are
// multiplied (lib/matmul_coop_kernels.slang); none where they don't lie in vectors.
std::string copied(const MatmulProblem& p) {
  if (p.a_column != 1 || p.k % 8 != 0 || !lies_in_vectors(p.a, p.a_row, p.a_batch)) return {};
  if (p.b_column == 1 && p.n % 8 == 0 && lies_in_vectors(p.b, p.b_row, p.b_batch)) {
    return "copied_";
  }
  const bool transposed = p.b_row == 1 && lies_in_vectors(p.b, p.b_column, p.b_batch);
  return transposed ? "copied_transposed_" : "";
}

// The kernel for matrix units. Operands of bf16 lie in memory as f32 and are rounded on the way.
Choice choose_coop(const MatmulProblem& p, std::int64_t batches) {
  const std::int64_t tile = is_enough(p, batches, 128) ? 128 : 64;
  return {"matmul_coop" + std::to_string(tile) + "_" +
              (p.c.dtype == DataType::f16 ? copied(p) : std::string()),
          tile, tile};
}

constexpr std::string_view kFunctions[] = {"",     "relu", "gelu_erf", "gelu_tanh",
                                           "silu", "tanh", "sigmoid",  "hard_swish"};

}  // namespace

std::optional<std::int32_t> fused_activation(std::string_view function) {
  const auto* const at = std::ranges::find(kFunctions, function);
  if (at == std::end(kFunctions)) return std::nullopt;
  return static_cast<std::int32_t>(at - std::begin(kFunctions));
}

std::optional<std::string> why_no_matmul(const Query& query, DataType storage) {
  if (storage == DataType::undefined) return std::nullopt;
  return query.need_kernel((simple(storage) ? "matmul_simple_" : "matmul_direct_") +
                           std::string(type_suffix(storage)));
}

std::optional<DataType> coop_operands(const NodeLowering& node, DataType storage) {
  if (!node.properties().abilities.cooperative_matrix) return std::nullopt;
  if (storage == DataType::f16) return DataType::f16;
  const bool rounds = storage == DataType::f32 && node.precision() == Precision::bf16;
  return rounds ? std::optional(DataType::bf16) : std::nullopt;
}

void emit_matmul(NodeLowering& node, const MatmulProblem& p) {
  const Shape strides[] = {p.a_batch, p.b_batch, p.c_batch};
  const Walk walk = make_walk(p.batch, strides, 3);
  if (walk.count == 0 || p.m == 0 || p.n == 0) return;
  if (emit_library_matmul(node, p)) return;
  using Params = kernels::MatmulParams;
  Params params{node.read(p.a), node.read(p.b), node.write(p.c), node.read(p.bias),
                node.read(p.residual)};
  params.m = to_i32(p.m);
  params.n = to_i32(p.n);
  params.k = to_i32(p.k);
  params.a_row = to_i32(p.a_row);
  params.a_column = to_i32(p.a_column);
  params.b_row = to_i32(p.b_row);
  params.b_column = to_i32(p.b_column);
  params.c_row = to_i32(p.c_row);
  params.batch1 = walk.extents[4];
  params.batch2 = walk.extents[5];
  set_ints(params, &Params::a_batch0, std::span(walk.strides[0]).subspan(3));
  set_ints(params, &Params::b_batch0, std::span(walk.strides[1]).subspan(3));
  set_ints(params, &Params::c_batch0, std::span(walk.strides[2]).subspan(3));
  params.bias_per_row = p.bias_per_row ? 1 : 0;
  params.activation = p.activation;
  params.alpha = p.alpha;
  const DeviceProperties& device = node.properties();
  const auto operands = p.m > kFewRows ? coop_operands(node, p.c.dtype) : std::nullopt;
  const Choice choice = simple(p.c.dtype)      ? Choice{"matmul_simple_", 4, 16}
                        : device.is_cpu_driver ? choose_for_cpu(p, device)
                        : operands.has_value() ? choose_coop(p, walk.count)
                                               : choose_for_gpu(p, walk.count);
  const char* suffix = type_suffix(p.c.dtype);
  if (operands == DataType::bf16) {
    suffix = "bf16";
    node.set_operands(DataType::bf16);
  }
  const auto groups = [](std::int64_t extent, std::int64_t tile) {
    return static_cast<std::uint32_t>((extent + tile - 1) / tile);
  };
  node.dispatch(node.kernel<Params>(choice.kernel + suffix),
                {groups(p.n, choice.columns), groups(p.m, choice.rows),
                 static_cast<std::uint32_t>(walk.count)},
                params);
  node.add_flops(2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) *
                 static_cast<double>(p.k) * static_cast<double>(walk.count));
}

}  // namespace concord::gpu
