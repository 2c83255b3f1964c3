#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/matmul_plain.h"

namespace concord::cpu {
namespace {

bool is_byte(DataType dtype) {
  return dtype == DataType::u8 || dtype == DataType::i8;
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  for (std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (!is_byte(input_dtype(graph, node, i))) return type_reason(input_dtype(graph, node, i));
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

PlanFn prepare(Compiler&) {
  return [](Planner& p) {
    Args args{};
    args.a_type = p.dtype(0);
    args.b_type = p.dtype(1);
    const Ref a = p.in(0);
    const Ref b = p.in(1);
    const Ref a_zero = p.in(2);
    const Ref b_zero = p.in(3);
    const View a_view = p.dense_view(0);
    const View b_view = p.dense_view(1);
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
    if (a_zero) args.a_zeros = p.shape(2).count();
    if (b_zero) args.b_zeros = p.shape(3).count();
    const Ref c = p.out();
    const double work = 2.0 * static_cast<double>(y.count()) * static_cast<double>(args.k);
    p.precision({DataType::i8, DataType::i32, DataType::i32, false});
    p.emit("matmul_integer plain", work, [=](const Frame& f) {
      multiply(args, f.at(a), f.at(b), f.at(a_zero), f.at(b_zero), f.at<std::int32_t>(c));
    });
  };
}

}  // namespace

const Lowering cpu_matmul_integer{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
