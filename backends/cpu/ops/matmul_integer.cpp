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

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  for (std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (!is_byte(input_dtype(graph, node, i))) return type_reason(input_dtype(graph, node, i));
  }
  if (node.has_input(kScale)) {
    // Only the packed product takes scales: fusion makes them for such weights alone.
    const graph::Value& b = graph.value(node.input(kB));
    if (!b.constant || b.constant->shape().size() != 2) return "a scaled product of no weights";
    if (node.has_input(kBZero) && !graph.value(node.input(kBZero)).constant) {
      return "zero points of weights that are no constants";
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
  const Tensor* b = c.constant(kB);
  if (b == nullptr || b->shape().size() != 2 || b->count() == 0) return nullptr;
  if (c.has(kBZero) && c.constant(kBZero) == nullptr) return nullptr;
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
    if (zero.count() != 1 && zero.count() != matrix.cols) return nullptr;
  }
  auto weights = std::make_shared<const PackedBytes>(PackedBytes::pack(matrix, zeros));
  c.add_weight_bytes(static_cast<std::int64_t>(weights->bytes()));
  c.keep(weights);
  b->release_pages();
  return weights;
}

void plan_packed(Planner& p, const ActivationSpec& activation,
                 const std::shared_ptr<const PackedBytes>& weights) {
  const Dims y = p.out_shape();
  const bool scaled = p.has(kScale);
  MatmulInt8Args args;
  args.rows = y.count() / weights->n();
  args.a_signed = p.dtype(kA) == DataType::i8;
  args.lda = weights->k();
  args.ldc = weights->n();
  const Ref a = p.in(kA);
  const Ref a_zero = p.in(kAZero);
  if (a_zero && p.shape(kAZero).count() != 1) args.a_zero_stride = 1;
  const Ref scale = p.in(kScale);
  if (scaled && p.shape(kScale).count() != 1) args.scale_stride = 1;
  ProductForm form;
  form.activation = activation;
  if (scaled) {
    form.bias = kBias;
    form.residual = kResidual;
  }
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
  if (auto weights = packed_weights(c)) {
    const ActivationSpec activation = activation_of(c.node(), "act_alpha", "act_beta");
    return [activation, weights](Planner& p) { plan_packed(p, activation, weights); };
  }
  return plan_plain;
}

}  // namespace

const Lowering cpu_matmul_integer{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
