#pragma once

#include "backends/reference/kernel.h"
#include "graph/geometry.h"

namespace concord::reference {

// Running results along the axis of cum_sum and cum_prod. A Running starts each line and has
// add(N) and N result().
template <typename N, typename Running>
std::vector<OracleValue> cumulative(const Call& call) {
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
                   Running running;
                   for (std::int64_t i = 0; i < extent; ++i) {
                     const std::int64_t at = base + (reverse ? extent - 1 - i : i) * inner;
                     if (exclusive) y.set(at, running.result());
                     running.add(number<N>(x[at]));
                     if (!exclusive) y.set(at, running.result());
                   }
                 }
               });
  return {y.finish()};
}

}  // namespace concord::reference
