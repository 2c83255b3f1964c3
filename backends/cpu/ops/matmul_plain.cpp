#include "backends/cpu/ops/matmul_plain.h"

#include "backends/cpu/kernels/elementwise_exact.h"
#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/unary_f64.h"

namespace concord::cpu {
namespace {

// c [batch, m, n] = alpha · a · b.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  Dims batch;
  Dims a_strides, b_strides;  // batch axes, then row, column
  double alpha = 1;
};

template <typename T>
void multiply(const Product& x, const T* a, const T* b, T* c) {
  const std::int64_t batches = x.batch.count();
  const int axes = x.batch.rank();
  parallel_for(
      batches * x.m, 1 + 20000 / (1 + x.n * x.k), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const T* a_row = a + row % x.m * x.a_strides[axes];
          const T* b_batch = b;
          std::int64_t rest = row / x.m;
          for (int i = axes - 1; i >= 0; --i) {
            a_row += rest % x.batch[i] * x.a_strides[i];
            b_batch += rest % x.batch[i] * x.b_strides[i];
            rest /= x.batch[i];
          }
          for (std::int64_t j = 0; j < x.n; ++j) {
            T sum = 0;
            for (std::int64_t l = 0; l < x.k; ++l) {
              sum = static_cast<T>(sum +
                                   a_row[l * x.a_strides[axes + 1]] *
                                       b_batch[l * x.b_strides[axes] + j * x.b_strides[axes + 1]]);
            }
            if constexpr (std::is_floating_point_v<T>) sum *= x.alpha;
            c[row * x.n + j] = sum;
          }
        }
      });
}

template <typename T>
void emit(Planner& p, const Product& product, Ref a, Ref b, Ref c) {
  const double flops = 2.0 * static_cast<double>(p.out_shape().count() * product.k);
  p.emit("matmul plain", flops, [product, a, b, c](const Frame& f) {
    multiply<T>(product, f.at<T>(a), f.at<T>(b), f.at<T>(c));
  });
}

// act(y + bias) + residual on f64, the operators of the epilogue one after the other.
void emit_f64_epilogue(Planner& p, const ProductForm& form, Ref y) {
  const Dims shape = p.out_shape();
  const auto add = [&](int input) {
    if (!p.has(input)) return;
    const View view = p.view(input);
    p.emit([shape, y, at = view.at, strides = broadcast_to(view, shape),
            dense = dense_strides(shape)](const Frame& f) {
      elementwise_exact(ElementOp::add, Element::f64, shape, {f.at(y), dense.begin()},
                        {f.at(at), strides.begin()}, f.at(y));
    });
  };
  add(form.bias);
  if (form.activation.present) {
    p.emit([y, count = shape.count(), spec = form.activation](const Frame& f) {
      unary_f64(spec.fn, spec.alpha, spec.beta, count, f.at<const double>(y), f.at<double>(y));
    });
  }
  add(form.residual);
}

}  // namespace

bool has_plain_matmul(DataType dtype) {
  switch (dtype) {
    case DataType::f64:
    case DataType::i32:
    case DataType::i64:
    case DataType::u32:
    case DataType::u64:
      return true;
    default:
      return false;
  }
}

Dims broadcast_batch(const View& view, int axes) {
  Dims strides = Dims::filled(axes, 0);
  const int own = view.shape.rank() - 2;
  for (int i = 0; i < own; ++i) {
    if (view.shape[i] != 1) strides[axes - own + i] = view.strides[i];
  }
  return strides;
}

PlanFn prepare_plain_matmul(Compiler& c, const ProductForm& form) {
  const double alpha = c.attrs().number("alpha", 1.0);
  return [form, trans_a = form.trans_a, trans_b = form.trans_b, alpha](Planner& p) {
    const View a = p.view(0);
    const View b = p.view(1);
    const Dims y = p.out_shape();
    Product product;
    product.alpha = alpha;
    const int axes = y.rank() - 2;
    for (int i = 0; i < axes; ++i) product.batch.push_back(y[i]);
    product.m = y[axes];
    product.n = y[axes + 1];
    product.k = a.shape[a.shape.rank() - (trans_a ? 2 : 1)];
    product.a_strides = broadcast_batch(a, axes);
    product.b_strides = broadcast_batch(b, axes);
    const auto append = [](Dims& strides, const View& view, bool trans_it) {
      const int rank = view.shape.rank();
      strides.push_back(view.strides[rank - (trans_it ? 1 : 2)]);
      strides.push_back(view.strides[rank - (trans_it ? 2 : 1)]);
    };
    append(product.a_strides, a, trans_a);
    append(product.b_strides, b, trans_b);
    const Ref out = p.out();
    switch (p.out_dtype()) {
      case DataType::f64:
        emit<double>(p, product, a.at, b.at, out);
        emit_f64_epilogue(p, form, out);
        break;
      case DataType::i32:
      case DataType::u32:
        // Unsigned arithmetic wraps around, and has the same bits.
        emit<std::uint32_t>(p, product, a.at, b.at, out);
        break;
      default:
        emit<std::uint64_t>(p, product, a.at, b.at, out);
        break;
    }
  };
}

}  // namespace concord::cpu
