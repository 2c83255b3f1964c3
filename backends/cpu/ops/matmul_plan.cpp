#include "backends/cpu/ops/matmul_plan.h"

#include <algorithm>
#include <string_view>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/ops/matmul_plain.h"

namespace concord::cpu {
namespace {

// Whether a view holds one row of n elements that is the same for all rows of y: [n], [1, n], …
bool is_row(const View& view, std::int64_t n) {
  return view.shape.rank() > 0 && view.shape.count() == n && view.shape.back() == n && view.dense();
}

Dims matrix_shape(const Dims& shape, bool trans) {
  Dims result = shape;
  if (trans) std::swap(result[shape.rank() - 1], result[shape.rank() - 2]);
  return result;
}

// What the products are made of: the weights' storage where it is less than the model's type.
DataType operand_type(DataType model, Element storage) {
  if (storage == Element::bf16) return DataType::bf16;
  return storage == Element::f16 && model == DataType::f32 ? DataType::f16 : DataType::f32;
}

// What the two implementations of packed products have in common. The weights are kept alive by the
// program.
struct PackedProduct {
  std::int64_t n, k;
  Element storage;
  std::string_view kernel;
  bool over_residual;  // the result may be written over the residual
};

template <typename Weights, typename Multiply>
void plan_product(Planner& p, const ProductForm& form, const PackedProduct& product,
                  const Weights* weights, Multiply multiply) {
  const Dims y = p.out_shape();
  const std::int64_t n = product.n;
  const std::int64_t k = product.k;
  MatmulArgs args;
  args.rows = n == 0 ? 0 : y.count() / n;
  RowsView a;
  if (form.trans_a) {
    // [.., k, m] is copied to [.., m, k].
    View view = p.view_f32(0);
    const int rank = view.shape.rank();
    std::swap(view.strides[rank - 1], view.strides[rank - 2]);
    view.shape = matrix_shape(view.shape, true);
    const std::size_t size = element_bytes(view.dtype);
    a.at = p.scratch(view.bytes());
    a.lead = k;
    p.emit([view, to = a.at, size](const Frame& f) {
      copy_strided(size, view.shape, f.at(view.at), view.strides, f.at(to),
                   dense_strides(view.shape));
    });
  } else {
    a = rows_of(p, 0);
  }
  const PlannedEpilogue epilogue = plan_epilogue(p, form, y);
  args.a_type = a.type;
  args.lda = a.lead;
  args.ldc = n;
  args.epilogue.scale = form.alpha;
  args.epilogue.activation = epilogue.activation;
  args.epilogue.residual_stride = epilogue.residual_stride;
  // The kernel may write over the residual, never over a.
  const std::uint32_t over = epilogue.residual && product.over_residual ? 1u << form.residual : 0;
  const bool bf16 = p.out_dtype() == DataType::bf16 && epilogue.all;
  const Ref c = bf16 ? p.out() : p.out_f32(0, over);
  args.c_type = bf16 ? Element::bf16 : Element::f32;
  p.precision({operand_type(p.dtype(0), product.storage), DataType::f32, p.out_dtype(), false});
  p.emit(product.kernel, 2.0 * static_cast<double>(args.rows) * static_cast<double>(n * k),
         [args, weights, multiply, a = a.at, c, bias = epilogue.bias,
          residual = epilogue.residual](const Frame& f) {
           MatmulArgs now = args;
           now.a = f.at(a);
           now.c = f.at(c);
           now.epilogue.bias = f.at<float>(bias);
           now.epilogue.residual = f.at<float>(residual);
           multiply(*weights, now);
         });
  if (!epilogue.all) emit_afterwards(p, form, y, c, true);
}

}  // namespace

RowsView rows_of(Planner& p, int input) {
  RowsView rows;
  const bool f16 = p.dtype(input) == DataType::f16;
  const View view = f16 ? p.view_f32(input) : p.view(input);
  const Dims& shape = view.shape;
  const auto merged =
      shape.count() == 0
          ? std::nullopt
          : reshape_strides(shape, view.strides, Dims{shape.count() / shape.back(), shape.back()});
  rows.type = view.dtype == DataType::bf16 ? Element::bf16 : Element::f32;
  if (merged && ((*merged)[1] == 1 || shape.back() == 1)) {
    rows.at = view.at;
    rows.lead = std::max<std::int64_t>((*merged)[0], shape.back());
    if (shape.back() == 1) rows.lead = (*merged)[0] == 0 ? 1 : (*merged)[0];
  } else {
    rows.at = f16 ? view.at : p.in(input);
    rows.lead = shape.back();
  }
  return rows;
}

View matrix_view(Planner& p, int input) {
  View view = p.view(input);
  const int rank = view.shape.rank();
  const auto unit = [&](int axis) { return view.strides[axis] == 1 || view.shape[axis] == 1; };
  if (!unit(rank - 1) && !unit(rank - 2)) {
    view.at = p.in(input);
    view.strides = dense_strides(view.shape);
  }
  return view;
}

MatrixView kernel_view(const View& view, bool trans) {
  const int rank = view.shape.rank();
  MatrixView m;
  m.type = element(view.dtype);
  m.rows = view.shape[rank - 2];
  m.cols = view.shape[rank - 1];
  m.row_stride = view.strides[rank - 2];
  m.col_stride = view.strides[rank - 1];
  // The stride of an axis of one element does not matter; the kernel wants one of the two to be 1.
  if (m.cols == 1 && m.row_stride != 1) m.col_stride = 1;
  if (m.rows == 1 && m.col_stride != 1) m.row_stride = 1;
  if (trans) {
    std::swap(m.rows, m.cols);
    std::swap(m.row_stride, m.col_stride);
  }
  return m;
}

PlannedEpilogue plan_epilogue(Planner& p, const ProductForm& form, const Dims& y) {
  PlannedEpilogue planned;
  const std::int64_t n = y.back();
  const auto activation = form.activation.fused();
  planned.all = activation.has_value();
  planned.activation = activation.value_or(Activation::none);
  if (p.has(form.bias)) {
    if (is_row(p.view(form.bias), n)) {
      planned.bias = p.in_f32(form.bias);
    } else {
      planned.all = false;
    }
  }
  if (p.has(form.residual)) {
    const View& view = p.view(form.residual);
    if (view.shape.count() == y.count() && view.shape.back() == n) {
      planned.residual = p.in_f32(form.residual);
      planned.residual_stride = n;
    } else if (is_row(view, n)) {
      planned.residual = p.in_f32(form.residual);
    } else {
      planned.all = false;
    }
  }
  if (!planned.all) planned = {{}, {}, 0, Activation::none, false};
  return planned;
}

void emit_afterwards(Planner& p, const ProductForm& form, const Dims& y, Ref sums, bool with_bias) {
  View bias, residual;
  with_bias = with_bias && p.has(form.bias);
  if (with_bias) bias = p.view_f32(form.bias);
  if (p.has(form.residual)) residual = p.view_f32(form.residual);
  const Afterwards afterwards(form.activation, with_bias, p.has(form.residual));
  afterwards.emit(p, y, sums, with_bias ? &bias : nullptr,
                  p.has(form.residual) ? &residual : nullptr);
}

void plan_packed_product(Planner& p, const ProductForm& form,
                         const std::shared_ptr<const PackedWeights>& weights) {
  plan_product(p, form, {weights->n(), weights->k(), weights->storage(), "matmul packed", true},
               weights.get(),
               [](const PackedWeights& w, const MatmulArgs& args) { matmul(w, args); });
}

void plan_library_product(Planner& p, const ProductForm& form,
                          const std::shared_ptr<const OnednnProduct>& weights) {
  plan_product(p, form, {weights->n(), weights->k(), weights->storage(), "onednn matmul", false},
               weights.get(), [](const OnednnProduct& w, const MatmulArgs& args) { w.run(args); });
}

void plan_side_by_side_product(Planner& p, const std::shared_ptr<const PackedWeights>& weights,
                               const float* bias, std::span<const std::int64_t> columns) {
  const Dims y = p.out_shape();
  MatmulArgs args;
  args.rows = y.product(0, y.rank() - 1);
  const RowsView a = rows_of(p, 0);
  args.lda = a.lead;
  args.ldc = weights->n();
  args.epilogue.bias = bias;
  const Ref c = p.out_side_by_side(columns);
  p.precision(
      {operand_type(DataType::f32, weights->storage()), DataType::f32, DataType::f32, false});
  p.emit("matmul packed", 2.0 * static_cast<double>(args.rows * weights->n() * weights->k()),
         [args, weights = weights.get(), a = a.at, c](const Frame& f) {
           MatmulArgs now = args;
           now.a = f.at(a);
           now.c = f.at(c);
           matmul(*weights, now);
         });
}

void plan_batched_product(Planner& p, const ProductForm& form, bool to_bf16) {
  const Dims y = p.out_shape();
  const View a = matrix_view(p, 0);
  const View b = matrix_view(p, 1);
  BatchedMatmulArgs args;
  args.a = kernel_view(a, form.trans_a);
  args.b = kernel_view(b, form.trans_b);
  args.m = args.a.rows;
  args.k = args.a.cols;
  args.n = args.b.cols;
  args.ldc = args.n;
  args.scale = form.alpha;
  args.round_to_bf16 = to_bf16;
  // Batch axes of extent 1 are left out, so that six are enough for eight axes in most cases.
  const Dims c_strides = dense_strides(y);
  const int batch_axes = y.rank() - 2;
  const Dims a_batch = broadcast_batch(a, batch_axes);
  const Dims b_batch = broadcast_batch(b, batch_axes);
  for (int i = 0; i < batch_axes; ++i) {
    if (y[i] == 1) continue;
    if (args.batch_rank == 6) throw Error(ErrorKind::unsupported, "more than 6 batch axes");
    args.batch[args.batch_rank] = y[i];
    args.a_batch_stride[args.batch_rank] = a_batch[i];
    args.b_batch_stride[args.batch_rank] = b_batch[i];
    args.c_batch_stride[args.batch_rank] = c_strides[i];
    ++args.batch_rank;
  }
  const bool row_bias = p.has(form.bias) && is_row(p.view(form.bias), args.n);
  const Ref bias = row_bias ? p.in_f32(form.bias) : Ref{};
  const Ref c = p.out_f32(0);
  p.precision({to_bf16 ? DataType::bf16 : DataType::f32, DataType::f32, p.out_dtype(), false});
  const double flops = 2.0 * static_cast<double>(y.count()) * static_cast<double>(args.k);
  p.emit("matmul batched", flops, [args, a = a.at, b = b.at, c, bias](const Frame& f) {
    BatchedMatmulArgs now = args;
    now.a.data = f.at(a);
    now.b.data = f.at(b);
    now.c = f.at(c);
    now.bias = f.at<float>(bias);
    matmul_batched(now);
  });
  emit_afterwards(p, form, y, c, !row_bias);
}

}  // namespace concord::cpu
