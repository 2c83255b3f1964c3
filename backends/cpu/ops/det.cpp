#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/parallel.h"
#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const DataType dtype = input_dtype(graph, node, 0);
  if (is_kernel_float(dtype) || dtype == DataType::f64) return std::nullopt;
  return type_reason(dtype);
}

// LU decomposition with partial pivoting, in double whatever the tensor holds; `a` [n, n] is
// overwritten.
double determinant(double* a, std::int64_t n) {
  double product = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    if (pivot != k) {
      std::swap_ranges(a + pivot * n + k, a + (pivot + 1) * n, a + k * n + k);
      product = -product;
    }
    const double diagonal = a[k * n + k];
    product *= diagonal;
    if (diagonal == 0) return product;
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / diagonal;
      for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return product;
}

template <typename T>
void determinants(std::int64_t count, std::int64_t n, const T* x, T* y) {
  const double nanoseconds = static_cast<double>(n * n * n) / 3 + static_cast<double>(10 * n) + 20;
  parallel_for(count, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<double> matrix(static_cast<std::size_t>(n * n));
                 for (std::int64_t i = begin; i < end; ++i) {
                   const T* from = x + i * n * n;
                   std::copy(from, from + n * n, matrix.begin());
                   y[i] = static_cast<T>(determinant(matrix.data(), n));
                 }
               });
}

PlanFn prepare(Compiler&) {
  return [](Planner& p) {
    const Dims shape = p.shape(0);
    const std::int64_t n = shape.back();
    if (shape[shape.rank() - 2] != n) {
      throw Error(ErrorKind::invalid, "a tensor of " + shape.text() + " holds no square matrices");
    }
    const std::int64_t count = shape.product(0, shape.rank() - 2);
    const auto size = static_cast<double>(n);
    const double work = static_cast<double>(count) * size * size * size * 2 / 3;
    if (p.dtype(0) == DataType::f64) {
      const Ref x = p.in(0);
      const Ref y = p.out();
      p.emit("det", work, [=](const Frame& f) {
        determinants(count, n, f.at<const double>(x), f.at<double>(y));
      });
      return;
    }
    const Ref x = p.in_f32(0);
    const Ref y = p.out_f32(0);
    p.emit("det", work,
           [=](const Frame& f) { determinants(count, n, f.at<const float>(x), f.at<float>(y)); });
  };
}

}  // namespace

const Lowering cpu_det{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
