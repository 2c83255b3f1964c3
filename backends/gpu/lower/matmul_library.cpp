// Matrix products by the vendor's library, where the device has one.

#include <algorithm>
#include <array>
#include <string>

#include "backends/gpu/convert.h"
#include "backends/gpu/kernels/matmul_finish.h"
#include "backends/gpu/lower/matmul_problem.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

// The batch as one extent with one stride for each operand; nullopt where it is none.
struct Batch {
  std::int64_t count = 1;
  std::array<std::int64_t, 3> strides{};  // of a, b, c
};

std::optional<Batch> one_batch(const MatmulProblem& p) {
  const std::array<const Shape*, 3> strides{&p.a_batch, &p.b_batch, &p.c_batch};
  Batch batch;
  bool first = true;
  for (std::size_t axis = p.batch.size(); axis-- > 0;) {
    if (p.batch[axis] == 1) continue;
    for (std::size_t i = 0; i < strides.size(); ++i) {
      const std::int64_t stride = (*strides[i])[axis];
      if (first) {
        batch.strides[i] = stride;
      } else if (stride != batch.strides[i] * batch.count) {
        return std::nullopt;
      }
    }
    batch.count *= p.batch[axis];
    first = false;
  }
  return batch;
}

// Whether c's rows and matrices lie one after the other, and are all of its operand.
bool is_dense(const MatmulProblem& p, const Batch& batch) {
  return p.c_row == p.n && (batch.count == 1 || batch.strides[2] == p.m * p.n) &&
         p.c.count() == batch.count * p.m * p.n;
}

// A stored matrix: distance between its rows, and whether they are the other operand's columns.
struct Layout {
  std::int64_t row = 0;
  bool transposed = false;
};

std::optional<Layout> layout_of(std::int64_t row, std::int64_t column, std::int64_t rows,
                                std::int64_t columns) {
  // A distance that is never gone may be anything; the library wants one that fits.
  if (column == 1) return Layout{rows == 1 ? columns : row, false};
  if (row == 1) return Layout{columns == 1 ? rows : column, true};
  return std::nullopt;
}

// c = activation(products + bias) + residual, where the library has no epilogue for it.
void finish(NodeLowering& node, const MatmulProblem& p, const Operand& products) {
  using Params = kernels::MatmulFinishParams;
  const std::int64_t count = p.c.count();
  Params params{node.read(products), node.read(p.bias), node.read(p.residual), node.write(p.c)};
  params.count = to_i32(count);
  params.columns = to_i32(p.n);
  params.activation = p.activation;
  node.dispatch(node.kernel<Params>("matmul_finish_" + std::string(type_suffix(p.c.dtype))),
                flat_groups(count), params);
}

}  // namespace

bool emit_library_matmul(NodeLowering& node, const MatmulProblem& p) {
  if (!node.properties().library_matmul || p.k == 0 || p.bias_per_row) return false;
  // Integers and float64 have kernels of their own.
  if (p.c.dtype != DataType::f32 && p.c.dtype != DataType::f16) return false;
  const std::optional<Batch> batch = one_batch(p);
  if (!batch.has_value()) return false;
  const auto a = layout_of(p.a_row, p.a_column, p.m, p.k);
  const auto b = layout_of(p.b_row, p.b_column, p.k, p.n);
  if (!a.has_value() || !b.has_value()) return false;

  constexpr std::string_view kGelu = "gelu_tanh";
  LibraryMatmulCommand command;
  const bool relu = p.activation == *fused_activation("relu");
  const bool gelu = p.activation == *fused_activation(kGelu);
  // The library adds what c holds before the function, the model after it.
  const bool adds_itself = p.activation == 0 && p.residual.defined();
  const bool more = (p.activation != 0 && !relu && !gelu) || (p.residual.defined() && !adds_itself);
  if (more && !is_dense(p, *batch)) return false;
  Operand products = p.c;
  if (more && p.c.dtype == DataType::f16) {
    // Rounded once, when all is done.
    products = node.temporary(DataType::f32, p.c.shape);
    command.wide_result = true;
  }
  command.a = NodeLowering::read(p.a);
  command.b = NodeLowering::read(p.b);
  command.y = NodeLowering::write(products);
  if (!more) {
    command.bias = NodeLowering::read(p.bias);
    if (adds_itself) command.residual = NodeLowering::read(p.residual);
    command.epilogue = relu ? Epilogue::kRelu : gelu ? Epilogue::kGeluTanh : Epilogue::kNone;
  }
  command.batch = batch->count;
  command.m = p.m;
  command.n = p.n;
  command.k = p.k;
  command.a_batch_stride = batch->strides[0];
  command.b_batch_stride = batch->strides[1];
  command.y_batch_stride = batch->strides[2];
  command.a_row = a->row;
  command.b_row = b->row;
  command.y_row = p.m == 1 ? p.n : p.c_row;
  command.transpose_a = a->transposed;
  command.transpose_b = b->transposed;
  command.alpha = p.alpha;
  command.element_bytes = p.c.dtype == DataType::f16 ? 2 : 4;
  if (p.c.dtype == DataType::f32 && node.properties().short_products) {
    command.operands = node.precision() == Precision::tf32   ? Operands::kTf32
                       : node.precision() == Precision::bf16 ? Operands::kBf16
                                                             : Operands::kAsStored;
  }
  node.library_matmul(command);
  node.add_flops(2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) *
                 static_cast<double>(p.k) * static_cast<double>(batch->count));
  if (more) finish(node, p, products);
  return true;
}

}  // namespace concord::gpu
