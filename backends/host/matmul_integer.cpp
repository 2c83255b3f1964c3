#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

// A zero point by row of a (or column of b): one for all, one each, or one each per batch.
struct ZeroPoints {
  std::vector<std::int64_t> values;
  std::int64_t per_batch = 0;  // 0: one for all

  std::int64_t at(std::int64_t batch, std::int64_t i) const {
    if (values.empty()) return 0;
    if (per_batch == 0) return values[0];
    const auto place = static_cast<std::size_t>(batch * per_batch + i);
    return values[place % values.size()];
  }
};

ZeroPoints zero_points(const Call& call, std::size_t operand, std::int64_t extent) {
  ZeroPoints zeros;
  if (!call.has(operand)) return zeros;
  zeros.values = call.input(operand).ints();
  if (zeros.values.size() != 1) {
    if (extent == 0 || zeros.values.size() % static_cast<std::size_t>(extent) != 0) {
      fail(call.name_of(operand) + " holds " + std::to_string(zeros.values.size()) +
           " zero points for " + std::to_string(extent));
    }
    zeros.per_batch = extent;
  }
  return zeros;
}

// The operand as [rows, columns] or more; a vector becomes a row (left) or a column (right).
Shape matrix_shape(const Shape& shape, bool left) {
  if (shape.size() != 1) return shape;
  return left ? Shape{1, shape[0]} : Shape{shape[0], 1};
}

std::optional<std::string> why_unsupported(const graph::Graph&, const graph::Node& node) {
  if (node.has_input(4)) return "float arithmetic";
  return std::nullopt;
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& a = call.input(0);
  const Tensor& b = call.input(1);
  const Shape a_shape = matrix_shape(a.shape(), true);
  const Shape b_shape = matrix_shape(b.shape(), false);
  const std::size_t ra = a_shape.size();
  const std::size_t rb = b_shape.size();
  if (ra < 2 || rb < 2 || a_shape[ra - 1] != b_shape[rb - 2]) {
    fail("matrices of shapes " + to_string(std::span<const std::int64_t>(a.shape())) + " and " +
         to_string(std::span<const std::int64_t>(b.shape())) + " cannot be multiplied");
  }
  const std::int64_t m = a_shape[ra - 2];
  const std::int64_t k = a_shape[ra - 1];
  const std::int64_t n = b_shape[rb - 1];
  const Shape a_batch(a_shape.begin(), a_shape.end() - 2);
  const Shape b_batch(b_shape.begin(), b_shape.end() - 2);
  const Shape batch = broadcast_shapes(a_batch, b_batch);
  Shape shape = batch;
  if (a.rank() > 1) shape.push_back(m);
  if (b.rank() > 1) shape.push_back(n);

  const std::vector<std::int64_t> left = a.ints();
  const std::vector<std::int64_t> right = b.ints();
  const ZeroPoints left_zero = zero_points(call, 2, m);
  const ZeroPoints right_zero = zero_points(call, 3, n);
  Tensor y(DataType::i32, shape);
  const auto to = y.as_mutable<std::int32_t>();
  std::int64_t at = 0;
  for_each_row<2>(batch, {broadcast_strides(a_batch, batch), broadcast_strides(b_batch, batch)},
                  [&](const auto& offset, std::int64_t count, const auto& step) {
                    for (std::int64_t i = 0; i < count; ++i, ++at) {
                      const std::int64_t ia = offset[0] + i * step[0];
                      const std::int64_t ib = offset[1] + i * step[1];
                      const std::int64_t* x = left.data() + ia * m * k;
                      const std::int64_t* w = right.data() + ib * k * n;
                      std::vector<std::int64_t> sums(static_cast<std::size_t>(n));
                      for (std::int64_t row = 0; row < m; ++row) {
                        std::fill(sums.begin(), sums.end(), 0);
                        for (std::int64_t j = 0; j < k; ++j) {
                          const std::int64_t value = x[row * k + j] - left_zero.at(ia, row);
                          for (std::int64_t column = 0; column < n; ++column) {
                            sums[static_cast<std::size_t>(column)] +=
                                value * (w[j * n + column] - right_zero.at(ib, column));
                          }
                        }
                        for (std::int64_t column = 0; column < n; ++column) {
                          to[static_cast<std::size_t>((at * m + row) * n + column)] =
                              static_cast<std::int32_t>(sums[static_cast<std::size_t>(column)]);
                        }
                      }
                    }
                  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_matmul_integer{why_unsupported, run};

}  // namespace concord::host
