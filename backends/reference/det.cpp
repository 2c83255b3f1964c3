#include <utility>

#include "backends/reference/kernel.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

// Gaussian elimination, the largest element of a column first. `a` [n, n] is used up.
template <typename N>
N determinant(std::vector<N>& a, std::int64_t n) {
  const auto at = [&](std::int64_t row, std::int64_t column) -> N& {
    return a[static_cast<std::size_t>(row * n + column)];
  };
  N result = number<N>(1);
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      if (std::abs(value_of(at(i, k))) > std::abs(value_of(at(pivot, k)))) pivot = i;
    }
    if (pivot != k) {
      for (std::int64_t j = k; j < n; ++j) std::swap(at(pivot, j), at(k, j));
      result = -result;
    }
    result = k == 0 && pivot == 0 ? at(k, k) : result * at(k, k);
    if (value_of(at(k, k)) == 0) return result;
    for (std::int64_t i = k + 1; i < n; ++i) {
      const N factor = at(i, k) / at(k, k);
      for (std::int64_t j = k + 1; j < n; ++j) at(i, j) = at(i, j) - factor * at(k, j);
    }
  }
  return result;
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  Shape shape = call.shape(0);
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2]) {
    throw Error(ErrorKind::invalid, "a tensor of shape " +
                                        to_string(std::span<const std::int64_t>(shape)) +
                                        " holds no square matrices");
  }
  const std::int64_t n = shape.back();
  shape.resize(shape.size() - 2);
  const double* x = call.data(0);
  Output<N> y(call, 0, shape);
  const auto size = static_cast<double>(n);
  parallel_for(y.count(), grain_for(size * size * size), [&](std::int64_t begin, std::int64_t end) {
    std::vector<N> matrix(static_cast<std::size_t>(n * n));
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t j = 0; j < n * n; ++j) {
        matrix[static_cast<std::size_t>(j)] = number<N>(x[i * n * n + j]);
      }
      y.set(i, determinant(matrix, n));
    }
  });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_det{run};

}  // namespace concord::reference
