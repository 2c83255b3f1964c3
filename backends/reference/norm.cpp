#include "backends/reference/norm.h"

#include "backends/reference/rounding.h"
#include "backends/reference/rows.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call, bool center, std::size_t residual_operand) {
  const Shape shape = call.shape(0);
  const auto axis = static_cast<std::size_t>(call.attrs().integer("axis"));
  const std::int64_t width = host::extent_product(shape, axis, shape.size());
  const double epsilon = call.attrs().number("epsilon");
  const double* x = call.data(0);
  const double* residual = call.data(residual_operand);
  const double* gamma = call.data(1);
  const double* beta = center ? call.data(2) : nullptr;
  const Rows rows(shape, {residual ? call.shape(residual_operand) : Shape{},
                          gamma ? call.shape(1) : Shape{}, beta ? call.shape(2) : Shape{}});
  // A sum that is stored may be read back, rounded, before it is normalised.
  const double store = unit_roundoff(call.numerics.precision.store) / call.unit();
  const bool stores_sum = residual != nullptr && call.wants_output(1);
  const auto read_back = static_cast<real_t<N>>(stores_sum && store > 1 ? store * store / 3 : 0);

  Output<N> y(call, 0, shape);
  Output<N> sum(call, 1, stores_sum ? shape : Shape{0});
  const std::int64_t count = width == 0 ? 0 : y.count() / width;
  parallel_for(
      count, grain_for(10.0 * static_cast<double>(width)),
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<N> row(static_cast<std::size_t>(width));
        for (std::int64_t r = begin; r < end; ++r) {
          const auto each = [&](auto&& body) {
            rows.visit(r * width, (r + 1) * width,
                       [&](std::int64_t first, std::int64_t n, const std::int64_t* at,
                           const std::int64_t* step) {
                         for (std::int64_t i = 0; i < n; ++i) {
                           body(first + i, at[0] + i * step[0], at[1] + i * step[1],
                                at[2] + i * step[2]);
                         }
                       });
          };
          each([&](std::int64_t i, std::int64_t at_residual, std::int64_t, std::int64_t) {
            N value = number<N>(x[i]);
            if (residual != nullptr) value = value + number<N>(residual[at_residual]);
            if (stores_sum) sum.set(i, value);
            if constexpr (kUncertain<N>) {
              if (read_back > 0) value.variance += read_back * value.value * value.value;
            }
            row[static_cast<std::size_t>(i - r * width)] = value;
          });
          normalise(row, epsilon, center);
          each([&](std::int64_t i, std::int64_t, std::int64_t at_gamma, std::int64_t at_beta) {
            N value = row[static_cast<std::size_t>(i - r * width)];
            if (gamma != nullptr) value = value * number<N>(gamma[at_gamma]);
            if (beta != nullptr) value = value + number<N>(beta[at_beta]);
            y.set(i, value);
          });
        }
      });
  std::vector<OracleValue> results;
  results.push_back(y.finish());
  if (call.node.outputs.size() > 1) {
    results.push_back(stores_sum ? sum.finish() : OracleValue{});
  }
  return results;
}

}  // namespace

std::vector<OracleValue> run_norm(const Call& call, bool center, std::size_t residual_operand) {
  return with_number(call, [&](auto tag) {
    return compute<typename decltype(tag)::type>(call, center, residual_operand);
  });
}

}  // namespace concord::reference
