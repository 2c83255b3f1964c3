#include "backends/gpu/lower/matmul_int8.h"

#include <algorithm>

#include "backends/gpu/kernels/int8.h"
#include "backends/gpu/lower/rows.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

// The library wants rows and results in multiples of 4, and is quicker with more.
constexpr std::int64_t kMultiple = 16;

std::int64_t padded(std::int64_t extent) {
  return (extent + kMultiple - 1) / kMultiple * kMultiple;
}

// What the library takes instead of an unsigned byte is that much less.
std::int32_t shift_of(DataType dtype) {
  return dtype == DataType::u8 ? 128 : 0;
}

// An operand as the library takes it: rows along k, and their sums.
struct Packed {
  Operand bytes;           // [matrices, padded rows, padded k], one byte each
  Operand sums;            // [matrices, padded rows]
  std::int64_t rows = 0;   // padded
  std::int64_t pitch = 0;  // bytes between rows
  bool shared = false;     // one matrix for all of the batch
};

// Rows of x [matrices, …], element (i, p) of a matrix at i·row + p·column.
Packed pack(NodeLowering& node, const Operand& x, std::int32_t shift, std::int64_t rows,
            std::int64_t padded_rows, std::int64_t k, std::int64_t row, std::int64_t column,
            std::int64_t batch) {
  Packed to;
  const std::int64_t matrices = x.count() / (rows * k);
  to.rows = padded_rows;
  to.pitch = padded(k);
  to.shared = matrices < batch;
  to.bytes = node.temporary(DataType::i32, {matrices, padded_rows, to.pitch / 4});
  to.sums = node.temporary(DataType::i32, {matrices, padded_rows});
  kernels::Int8Params params{node.read(x), node.write(to.bytes), node.write(to.sums)};
  params.count = to_i32(matrices * padded_rows);
  params.rows = to_i32(rows);
  params.padded_rows = to_i32(padded_rows);
  params.k = to_i32(k);
  params.pitch = to_i32(to.pitch / 4);
  params.row = to_i32(row);
  params.column = to_i32(column);
  params.x_batch = to_i32(rows * k);
  params.shift = shift;
  node.dispatch(kernels::int8_pack_i32, row_groups(params.count), params);
  return to;
}

// The same of a constant b [k, n], once for all plans.
Packed pack_constant(NodeLowering& node, std::int32_t shift, std::int64_t n, std::int64_t k,
                     std::int64_t batch) {
  Packed to;
  to.rows = padded(n);
  to.pitch = padded(k);
  to.shared = batch > 1;
  const auto value = [=](const Tensor& b, std::int64_t p, std::int64_t j) {
    return static_cast<std::int32_t>(b.at_int(p * n + j)) - shift;
  };
  to.bytes = node.packed(1, "int8_rows", DataType::i32, {1, to.rows, to.pitch / 4},
                         [=, pitch = to.pitch](const Tensor& b, std::span<std::byte> bytes) {
                           std::ranges::fill(bytes, std::byte{0});
                           for (std::int64_t j = 0; j < n; ++j) {
                             for (std::int64_t p = 0; p < k; ++p) {
                               bytes[static_cast<std::size_t>(j * pitch + p)] =
                                   static_cast<std::byte>(value(b, p, j));
                             }
                           }
                         });
  to.sums = node.packed(1, "int8_row_sums", DataType::i32, {1, to.rows},
                        [=](const Tensor& b, std::span<std::byte> bytes) {
                          std::ranges::fill(bytes, std::byte{0});
                          auto* sums = reinterpret_cast<std::int32_t*>(bytes.data());
                          for (std::int64_t j = 0; j < n; ++j) {
                            for (std::int64_t p = 0; p < k; ++p) sums[j] += value(b, p, j);
                          }
                        });
  return to;
}

}  // namespace

bool packs_constant(const NodeLowering& node, std::int64_t k, std::int64_t n) {
  return node.properties().library_matmul && k != 0 && node.is_constant(1) &&
         element_count(node.in_shape(1)) == k * n;
}

bool emit_library_integers(NodeLowering& node, const IntegerProduct& p) {
  if (!node.properties().library_matmul || p.k == 0) return false;
  const std::int32_t a_shift = shift_of(node.in_dtype(0));
  const std::int32_t b_shift = shift_of(node.in_dtype(1));
  const Packed a = pack(node, p.a, a_shift, p.m, p.m, p.k, p.k, 1, p.batch);
  const Packed b = packs_constant(node, p.k, p.n)
                       ? pack_constant(node, b_shift, p.n, p.k, p.batch)
                       : pack(node, p.b, b_shift, p.n, padded(p.n), p.k, 1, p.n, p.batch);
  const Operand products = node.temporary(DataType::i32, {p.batch, p.m, b.rows});
  LibraryMatmulCommand command;
  command.a = NodeLowering::read(a.bytes);
  command.b = NodeLowering::read(b.bytes);
  command.y = NodeLowering::write(products);
  command.batch = p.batch;
  command.m = p.m;
  command.n = b.rows;
  command.k = a.pitch;
  command.a_batch_stride = a.shared ? 0 : p.m * a.pitch;
  command.b_batch_stride = b.shared ? 0 : b.rows * b.pitch;
  command.y_batch_stride = p.m * b.rows;
  command.a_row = a.pitch;
  command.b_row = b.pitch;
  command.y_row = b.rows;
  command.transpose_b = true;
  command.element_bytes = 1;
  node.library_matmul(command);
  kernels::Int8FinishParams params{node.read(products), node.read(a.sums), node.read(b.sums)};
  if (node.has(2)) params.a_zeros = node.read(node.in(2));
  if (node.has(3)) params.b_zeros = node.read(node.in(3));
  params.c = node.write(p.y);
  params.count = to_i32(p.y.count());
  params.m = to_i32(p.m);
  params.n = to_i32(p.n);
  params.k = to_i32(p.k);
  params.pitch = to_i32(b.rows);
  params.a_zero_step = p.a_zero_step;
  params.b_zero_step = p.b_zero_step;
  params.a_shift = a_shift;
  params.b_shift = b_shift;
  params.a_batch = a.shared ? 0 : to_i32(a.rows);
  params.b_batch = b.shared ? 0 : to_i32(b.rows);
  node.dispatch(kernels::int8_finish_i32, flat_groups(p.y.count()), params);
  return true;
}

}  // namespace concord::gpu
