#include "backends/cpu/kernels/matmul_int8.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/matmul_plain.h"
#include "backends/cpu/ops/matmul_plan.h"

namespace concord::cpu {
namespace {

enum : int { kA, kB, kAZero, kBZero, kScale, kBias, kResidual };

bool is_byte(DataType dtype) {
  return dtype == DataType::u8 || dtype == DataType::i8;
}

// No zero point, or one for the whole operand, whatever the run's extents.
bool has_single_zero(const graph::Graph& graph, const graph::Node& node, std::size_t i) {
  if (!node.has_input(i)) return true;
  const auto& shape = graph.value(node.input(i)).shape;
  return shape && product(*shape).is_constant(1);
}

// Whether the second operand is packed once: a constant matrix, zero points and all.
bool has_packed_weights(const graph::Graph& graph, const graph::Node& node) {
  const auto& b = graph.value(node.input(kB)).constant;
  if (!b || b->shape().size() != 2 || b->count() == 0) return false;
  if (!node.has_input(kBZero)) return true;
  const auto& zero = graph.value(node.input(kBZero)).constant;
  return zero && (zero->count() == 1 || zero->count() == b->shape()[1]);
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  for (std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (!is_byte(input_dtype(graph, node, i))) return type_reason(input_dtype(graph, node, i));
  }
  if (node.has_input(kScale)) {
    if (!has_packed_weights(graph, node) &&
        !(has_single_zero(graph, node, kAZero) && has_single_zero(graph, node, kBZero) &&
          has_single_zero(graph, node, kScale))) {
      return "several scales or zero points for an operand that is no constant";
    }
    return why_not_activation(activation_of(node, "act_alpha", "act_beta"));
  }
  return std::nullopt;
}

std::int32_t byte_at(DataType dtype, const std::byte* data, std::int64_t i) {
  const auto value = static_cast<std::uint8_t>(data[i]);
  return dtype == DataType::u8 ? value : static_cast<std::int8_t>(value);
}

struct Args {
  DataType a_type, b_type;
  std::int64_t m, n, k;
  Dims batch, a_batch, b_batch;           // extents; strides of a and b
  std::int64_t a_row, b_row;              // strides; columns are contiguous
  std::int64_t a_zeros = 0, b_zeros = 0;  // how many zero points: 0, 1, or one per row or column
};

// One row of c: sums of a zero-corrected row times zero-corrected b.
template <typename B>
void multiply_row(const Args& x, const std::int32_t* a, const B* b, const std::int32_t* b_zero,
                  std::int32_t* c) {
  std::fill_n(c, x.n, 0);
  std::int32_t sum = 0;
  for (std::int64_t l = 0; l < x.k; ++l) {
    const std::int32_t factor = a[l];
    sum += factor;
    const B* row = b + l * x.b_row;
    for (std::int64_t j = 0; j < x.n; ++j) c[j] += factor * static_cast<std::int32_t>(row[j]);
  }
  for (std::int64_t j = 0; j < x.n; ++j) c[j] -= sum * b_zero[j];
}

void multiply(const Args& x, const std::byte* a, const std::byte* b, const std::byte* a_zero,
              const std::byte* b_zero, std::int32_t* c) {
  std::vector<std::int32_t> zeros(static_cast<std::size_t>(x.n), 0);
  if (b_zero != nullptr) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      zeros[static_cast<std::size_t>(j)] = byte_at(x.b_type, b_zero, x.b_zeros == 1 ? 0 : j);
    }
  }
  parallel_for(x.batch.count() * x.m, 1 + 10000 / (1 + x.n * x.k),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<std::int32_t> row(static_cast<std::size_t>(x.k));
                 for (std::int64_t r = begin; r < end; ++r) {
                   std::int64_t a_at = r % x.m * x.a_row;
                   std::int64_t b_at = 0;
                   std::int64_t rest = r / x.m;
                   for (int i = x.batch.rank() - 1; i >= 0; --i) {
                     a_at += rest % x.batch[i] * x.a_batch[i];
                     b_at += rest % x.batch[i] * x.b_batch[i];
                     rest /= x.batch[i];
                   }
                   const std::int32_t zero =
                       a_zero == nullptr ? 0
                                         : byte_at(x.a_type, a_zero, x.a_zeros == 1 ? 0 : r % x.m);
                   for (std::int64_t l = 0; l < x.k; ++l) {
                     row[static_cast<std::size_t>(l)] = byte_at(x.a_type, a, a_at + l) - zero;
                   }
                   if (x.b_type == DataType::u8) {
                     multiply_row(x, row.data(), reinterpret_cast<const std::uint8_t*>(b) + b_at,
                                  zeros.data(), c + r * x.n);
                   } else {
                     multiply_row(x, row.data(), reinterpret_cast<const std::int8_t*>(b) + b_at,
                                  zeros.data(), c + r * x.n);
                   }
                 }
               });
}

// Weights that all rows share: a constant matrix whose zero points are constants.
std::shared_ptr<const PackedBytes> packed_weights(Compiler& c) {
  if (!has_packed_weights(c.graph(), c.node())) return nullptr;
  const Tensor* b = c.constant(kB);
  ByteMatrix matrix;
  matrix.data = b->data();
  matrix.is_signed = b->dtype() == DataType::i8;
  matrix.rows = b->shape()[0];
  matrix.cols = matrix.row_stride = b->shape()[1];
  std::vector<std::int32_t> zeros;
  if (c.has(kBZero)) {
    const Tensor& zero = *c.constant(kBZero);
    for (std::int64_t i = 0; i < zero.count(); ++i) {
      zeros.push_back(byte_at(zero.dtype(), zero.data(), i));
    }
  }
  auto weights = std::make_shared<const PackedBytes>(PackedBytes::pack(matrix, zeros));
  c.add_weight_bytes(static_cast<std::int64_t>(weights->bytes()));
  c.keep(weights);
  b->release_pages();
  return weights;
}

ProductForm form_of(const ActivationSpec& activation) {
  ProductForm form;
  form.activation = activation;
  form.bias = kBias;
  form.residual = kResidual;
  return form;
}

void plan_packed(Planner& p, const ActivationSpec& activation,
                 const std::shared_ptr<const PackedBytes>& weights) {
  const Dims y = p.out_shape();
  const bool scaled = p.has(kScale);
  MatmulInt8Args args;
  args.rows = y.count() / weights->n();
  args.a_signed = p.dtype(kA) == DataType::i8;
  const RowsView rows = rows_of(p, kA);
  const Ref a = rows.at;
  args.lda = rows.lead;
  args.ldc = weights->n();
  const Ref a_zero = p.in(kAZero);
  if (a_zero && p.shape(kAZero).count() != 1) args.a_zero_stride = 1;
  const Ref scale = p.in(kScale);
  if (scaled && p.shape(kScale).count() != 1) args.scale_stride = 1;
  const ProductForm form = form_of(activation);
  const PlannedEpilogue epilogue = plan_epilogue(p, form, y);
  args.epilogue.activation = epilogue.activation;
  args.epilogue.residual_stride = epilogue.residual_stride;
  const Ref c = scaled ? p.out_f32(0, epilogue.residual ? 1u << kResidual : 0) : p.out();
  p.precision({DataType::i8, DataType::i32, scaled ? DataType::f32 : DataType::i32, false});
  const double operations =
      2.0 * static_cast<double>(y.count()) * static_cast<double>(weights->k());
  p.emit("matmul_integer packed", operations,
         [args, weights = weights.get(), a, a_zero, scale, c, bias = epilogue.bias,
          residual = epilogue.residual](const Frame& f) {
           MatmulInt8Args now = args;
           now.a = f.at(a);
           now.a_zeros = f.at(a_zero);
           now.scales = f.at<const float>(scale);
           now.c = f.at(c);
           now.epilogue.bias = f.at<float>(bias);
           now.epilogue.residual = f.at<float>(residual);
           matmul_int8(*weights, now);
         });
  if (scaled && !epilogue.all) emit_afterwards(p, form, y, c, true);
}

// Two operands of the run, a zero point each.
void plan_batched(Planner& p, const ActivationSpec& activation) {
  const Dims y = p.out_shape();
  const bool scaled = p.has(kScale);
  const View a = matrix_view(p, kA);
  View b = matrix_view(p, kB);
  BatchedMatmulInt8Args args;
  MatrixView left = kernel_view(a, false);
  Ref a_at = a.at;
  Dims a_batch = broadcast_batch(a, y.rank() - 2);
  if (left.col_stride != 1) {
    const View dense = p.dense_view(kA);
    a_at = dense.at;
    a_batch = broadcast_batch(dense, y.rank() - 2);
    left = kernel_view(dense, false);
  }
  const MatrixView right = kernel_view(b, false);
  args.product.rows = left.rows;
  args.product.lda = left.row_stride;
  args.product.a_signed = p.dtype(kA) == DataType::i8;
  args.product.ldc = right.cols;
  args.b = {nullptr,         p.dtype(kB) == DataType::i8, right.rows, right.cols, right.row_stride,
            right.col_stride};
  const Dims b_batch = broadcast_batch(b, y.rank() - 2);
  const Dims c_batch = dense_strides(y);
  for (int i = 0; i < y.rank() - 2; ++i) {
    if (y[i] == 1) continue;
    if (args.batch_rank == 6) throw Error(ErrorKind::unsupported, "more than 6 batch axes");
    args.batch[args.batch_rank] = y[i];
    args.a_batch_stride[args.batch_rank] = a_batch[i];
    args.b_batch_stride[args.batch_rank] = b_batch[i];
    args.c_batch_stride[args.batch_rank] = c_batch[i];
    ++args.batch_rank;
  }
  const Ref a_zero = p.in(kAZero);
  const Ref b_zero = p.in(kBZero);
  const Ref scale = p.in(kScale);
  const Ref c = scaled ? p.out_f32(0) : p.out();
  p.precision({DataType::i8, DataType::i32, scaled ? DataType::f32 : DataType::i32, false});
  p.emit("matmul_integer batched",
         2.0 * static_cast<double>(y.count()) * static_cast<double>(right.rows),
         [args, a_at, b_at = b.at, a_zero, b_zero, scale, c](const Frame& f) {
           BatchedMatmulInt8Args now = args;
           now.product.a = f.at(a_at);
           now.product.a_zeros = f.at(a_zero);
           now.product.scales = f.at<const float>(scale);
           now.product.c = f.at(c);
           now.b.data = f.at(b_at);
           now.b_zero = f.at(b_zero);
           matmul_int8_batched(now);
         });
  if (scaled) emit_afterwards(p, form_of(activation), y, c, true);
}

void plan_plain(Planner& p) {
  Args args{};
  args.a_type = p.dtype(kA);
  args.b_type = p.dtype(kB);
  const Ref a = p.in(kA);
  const Ref b = p.in(kB);
  const Ref a_zero = p.in(kAZero);
  const Ref b_zero = p.in(kBZero);
  const View a_view = p.dense_view(kA);
  const View b_view = p.dense_view(kB);
  const Dims y = p.out_shape();
  const int axes = y.rank() - 2;
  args.m = y[axes];
  args.n = y[axes + 1];
  args.k = a_view.shape.back();
  for (int i = 0; i < axes; ++i) args.batch.push_back(y[i]);
  args.a_batch = broadcast_batch(a_view, axes);
  args.b_batch = broadcast_batch(b_view, axes);
  args.a_row = args.k;
  args.b_row = args.n;
  if (a_zero) args.a_zeros = p.shape(kAZero).count();
  if (b_zero) args.b_zeros = p.shape(kBZero).count();
  const Ref c = p.out();
  const double work = 2.0 * static_cast<double>(y.count()) * static_cast<double>(args.k);
  p.precision({DataType::i8, DataType::i32, DataType::i32, false});
  p.emit("matmul_integer plain", work, [=](const Frame& f) {
    multiply(args, f.at(a), f.at(b), f.at(a_zero), f.at(b_zero), f.at<std::int32_t>(c));
  });
}

PlanFn prepare(Compiler& c) {
  const ActivationSpec activation = activation_of(c.node(), "act_alpha", "act_beta");
  if (auto weights = packed_weights(c)) {
    return [activation, weights](Planner& p) { plan_packed(p, activation, weights); };
  }
  if (has_single_zero(c.graph(), c.node(), kAZero) &&
      has_single_zero(c.graph(), c.node(), kBZero)) {
    return [activation](Planner& p) { plan_batched(p, activation); };
  }
  return plan_plain;
}

}  // namespace

const Lowering cpu_matmul_integer{
    .why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 3};

}  // namespace concord::cpu
