#include "backends/reference/matmul.h"

#include "backends/reference/kernel.h"
#include "backends/reference/product.h"
#include "backends/reference/product_epilogue.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  using Real = real_t<N>;
  const MatmulGeometry g(call.shape(0), call.shape(1), call.attrs().integer("trans_a", 0) != 0,
                         call.attrs().integer("trans_b", 0) != 0);
  Output<N> y(call, 0, g.shape);
  const ProductEpilogue<N> epilogue(call, g.shape, 2, 3);
  const double conversions = call.conversions(0, 1);
  const std::int64_t panels = panel_count(g.n);
  // A task is a matrix of the batch and some of its columns; each has its own piece of the result,
  // so products go to scratch of the task's matrix and from there through the epilogue.
  const std::int64_t matrix = g.m * g.n;
  const auto elements = static_cast<std::size_t>(matrix);
  const double* a = call.data(0);
  const double* b = call.data(1);
  const double cost = 2.0 * static_cast<double>(g.m * g.k);
  if (g.batch == 0 || matrix == 0) return {y.finish()};

  const auto finish = [&](std::int64_t index, const std::vector<Real>& products,
                          const std::vector<Squares<Real>>& squares, std::int64_t begin,
                          std::int64_t end) {
    const std::int64_t base = index * matrix;
    epilogue.apply(y, base + begin, base + end, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i - base);
      if constexpr (kUncertain<N>) {
        return N(products[at], dot_variance<Real>(products[at], squares[at], static_cast<Real>(g.k),
                                                  static_cast<Real>(conversions)));
      } else {
        return products[at];
      }
    });
  };
  const auto squares_size = kUncertain<N> ? elements : 0;
  if (g.batch > 1 && cost * static_cast<double>(g.n) < 1e8) {
    parallel_for(g.batch, grain_for(cost * static_cast<double>(g.n)),
                 [&](std::int64_t begin, std::int64_t end) {
                   std::vector<Real> products(elements);
                   std::vector<Squares<Real>> squares(squares_size);
                   for (std::int64_t i = begin; i < end; ++i) {
                     multiply(g.m, g.n, g.k, g.left(a, i), g.right(b, i), products.data(),
                              kUncertain<N> ? squares.data() : nullptr);
                     finish(i, products, squares, 0, matrix);
                   }
                 });
    return {y.finish()};
  }
  std::vector<Real> products(elements);
  std::vector<Squares<Real>> squares(squares_size);
  for (std::int64_t i = 0; i < g.batch; ++i) {
    parallel_for(panels, grain_for(cost * kPanel), [&](std::int64_t begin, std::int64_t end) {
      multiply_panels(g.m, g.n, g.k, g.left(a, i), g.right(b, i), products.data(),
                      kUncertain<N> ? squares.data() : nullptr, begin, end);
    });
    parallel_for(matrix, grain_for(20), [&](std::int64_t begin, std::int64_t end) {
      finish(i, products, squares, begin, end);
    });
  }
  return {y.finish()};
}

// Integers wrap around.
Tensor integer_product(const Call& call) {
  const MatmulGeometry g(call.shape(0), call.shape(1), call.attrs().integer("trans_a", 0) != 0,
                         call.attrs().integer("trans_b", 0) != 0);
  if (call.attrs().has("activation") || call.has(2) || call.has(3) ||
      call.attrs().number("alpha", 1) != 1) {
    throw Error(ErrorKind::unsupported, "a product of integers with something fused to it");
  }
  Tensor y(call.input(0).dtype(), g.shape);
  host::with_integer(y.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* a = host::raw<T>(call.input(0)).data();
    const T* b = host::raw<T>(call.input(1)).data();
    T* to = host::raw_mutable<T>(y).data();
    for (std::int64_t i = 0; i < g.batch; ++i) {
      const MatmulGeometry::Place left = g.left_place(i);
      const MatmulGeometry::Place right = g.right_place(i);
      for (std::int64_t row = 0; row < g.m; ++row) {
        for (std::int64_t column = 0; column < g.n; ++column) {
          std::uint64_t sum = 0;
          for (std::int64_t p = 0; p < g.k; ++p) {
            sum +=
                static_cast<std::uint64_t>(a[left.offset + row * left.row + p * left.column]) *
                static_cast<std::uint64_t>(b[right.offset + p * right.row + column * right.column]);
          }
          to[(i * g.m + row) * g.n + column] = static_cast<T>(sum);
        }
      }
    }
  });
  return y;
}

std::vector<OracleValue> run(const Call& call) {
  if (!is_float(call.declared_input(0))) return {exact_output(call, 0, integer_product(call))};
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

MatmulGeometry::MatmulGeometry(const Shape& a, const Shape& b, bool trans_a, bool trans_b) {
  const std::size_t ra = a.size();
  const std::size_t rb = b.size();
  if (ra < 2 || rb < 2) throw Error(ErrorKind::failed, "internal: matmul of a vector");
  m = trans_a ? a[ra - 1] : a[ra - 2];
  k = trans_a ? a[ra - 2] : a[ra - 1];
  n = trans_b ? b[rb - 2] : b[rb - 1];
  if ((trans_b ? b[rb - 1] : b[rb - 2]) != k) {
    throw Error(ErrorKind::invalid,
                "matrices of shapes " + to_string(std::span<const std::int64_t>(a)) + " and " +
                    to_string(std::span<const std::int64_t>(b)) + " cannot be multiplied");
  }
  const Shape a_batch(a.begin(), a.end() - 2);
  const Shape b_batch(b.begin(), b.end() - 2);
  const Shape wide = host::broadcast_shapes(a_batch, b_batch);
  batch = element_count(wide);
  shape = wide;
  shape.insert(shape.end(), {m, n});
  left_ = trans_a ? Place{0, 1, a[ra - 1]} : Place{0, a[ra - 1], 1};
  right_ = trans_b ? Place{0, 1, b[rb - 1]} : Place{0, b[rb - 1], 1};
  host::for_each_row<2>(
      wide, {host::broadcast_strides(a_batch, wide), host::broadcast_strides(b_batch, wide)},
      [&](const auto& at, std::int64_t count, const auto& step) {
        for (std::int64_t i = 0; i < count; ++i) {
          left_offsets_.push_back((at[0] + i * step[0]) * m * k);
          right_offsets_.push_back((at[1] + i * step[1]) * k * n);
        }
      });
}

const Kernel reference_matmul{run};

}  // namespace concord::reference
