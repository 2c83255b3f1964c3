#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/matmul_int8.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(4) != DataType::undefined) return "a scaled product of integers";
  if (query.in_rank(0) < 2 || query.in_rank(1) < 2) return "operands of unknown rank";
  if (query.in_rank(2) > 1 || query.in_rank(3) > 1) return "zero points of each batch";
  return query.need_kernel("quantize_matmul_i32");
}

// The stride of the one batch axis that kernels have: 0 for one matrix for all.
std::int32_t batch_stride(const Operand& x, std::int64_t matrix) {
  return x.count() == matrix ? 0 : to_i32(matrix);
}

// x broadcast to these batch axes, unless it has one matrix or all of them.
Operand batched(NodeLowering& node, const Operand& x, const Shape& batch) {
  const std::int64_t matrix = x.shape[x.shape.size() - 2] * x.shape.back();
  if (x.count() == matrix || x.count() == matrix * element_count(batch)) return x;
  Shape shape = batch;
  shape.insert(shape.end(), {x.shape[x.shape.size() - 2], x.shape.back()});
  Operand wide = node.temporary(x.dtype, shape);
  emit_broadcast(node, x, wide);
  return wide;
}

// Kernels would read beyond zero points that don't fit.
std::int32_t zero_step(NodeLowering& node, std::size_t i, std::int64_t extent) {
  const std::int64_t count = element_count(node.in_shape(i));
  if (count == 1) return 0;
  if (count == extent) return 1;
  throw Error(ErrorKind::invalid,
              std::to_string(count) + " zero points for " + std::to_string(extent));
}

// y [batch…, m, n] = (a − a_zero)(b − b_zero)
void lower(NodeLowering& node) {
  const Operand y = node.out();
  if (y.count() == 0) return;
  const Shape batch(y.shape.begin(), y.shape.end() - 2);
  const Operand a = batched(node, node.in(0), batch);
  const std::int64_t m = y.shape[y.shape.size() - 2];
  const std::int64_t n = y.shape.back();
  const std::int64_t k = a.shape.back();
  Operand b;
  if (!packs_constant(node, k, n)) b = batched(node, node.in(1), batch);
  node.add_flops(2.0 * static_cast<double>(y.count()) * static_cast<double>(k));
  IntegerProduct product{a, b, y, element_count(batch), m, n, k};
  if (node.has(2)) product.a_zero_step = zero_step(node, 2, m);
  if (node.has(3)) product.b_zero_step = zero_step(node, 3, n);
  if (emit_library_integers(node, product)) return;
  kernels::QuantizeMatmulParams params{node.read(a), node.read(b)};
  if (node.has(2)) params.a_zeros = node.read(node.in(2));
  if (node.has(3)) params.b_zeros = node.read(node.in(3));
  params.a_zero_step = product.a_zero_step;
  params.b_zero_step = product.b_zero_step;
  params.c = node.write(y);
  params.m = to_i32(m);
  params.n = to_i32(n);
  params.k = to_i32(k);
  params.a_batch = batch_stride(a, m * k);
  params.b_batch = batch_stride(b, k * n);
  params.c_batch = to_i32(m * n);
  node.dispatch(kernels::quantize_matmul_i32,
                {static_cast<std::uint32_t>((n + 31) / 32), static_cast<std::uint32_t>((m + 3) / 4),
                 static_cast<std::uint32_t>(element_count(batch))},
                params);
}

}  // namespace

const Lowering gpu_matmul_integer{why, lower};

}  // namespace concord::gpu
