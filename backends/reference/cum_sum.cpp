#include "backends/reference/kernel.h"
#include "graph/geometry.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  using Real = real_t<N>;
  const Shape shape = call.shape(0);
  const Tensor given = call.has(1) ? call.input(1) : Tensor{};
  const std::int64_t wanted = graph::concrete_integer(call.node, "axis", given, call.bindings);
  const auto axis = static_cast<std::size_t>(graph::checked_axis(wanted, call.input(0).rank()));
  const bool exclusive = call.attrs().integer("exclusive", 0) != 0;
  const bool reverse = call.attrs().integer("reverse", 0) != 0;
  const std::int64_t extent = shape[axis];
  const std::int64_t inner = host::extent_product(shape, axis + 1, shape.size());
  const double* x = call.data(0);
  Output<N> y(call, 0, shape);
  const std::int64_t lines = extent == 0 ? 0 : y.count() / extent;
  parallel_for(lines, grain_for(4.0 * static_cast<double>(extent)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t line = begin; line < end; ++line) {
                   const std::int64_t base = line / inner * extent * inner + line % inner;
                   Real sum = 0;
                   Squares<Real> squares;
                   for (std::int64_t i = 0; i < extent; ++i) {
                     const std::int64_t at = base + (reverse ? extent - 1 - i : i) * inner;
                     const auto result = [&] {
                       if constexpr (kUncertain<N>) {
                         return N(sum, dot_variance<Real>(sum, squares, static_cast<Real>(i + 1)));
                       } else {
                         return sum;
                       }
                     };
                     if (exclusive) y.set(at, result());
                     sum += static_cast<Real>(x[at]);
                     squares.terms += static_cast<Real>(x[at]) * static_cast<Real>(x[at]);
                     squares.sums += sum * sum;
                     if (!exclusive) y.set(at, result());
                   }
                 }
               });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  if (!is_float(call.declared_input(0))) return through_host(call);
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_cum_sum{run};

}  // namespace concord::reference
