#include "backends/reference/softmax.h"

#include "backends/reference/kernel.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Shape& shape = call.shape(0);
  const auto axis = static_cast<std::size_t>(call.attrs().integer("axis"));
  const std::int64_t extent = shape.empty() ? 1 : call.extent(0, axis);
  const std::int64_t inner =
      shape.empty() ? 1 : host::extent_product(shape, axis + 1, shape.size());
  const bool log_wanted = call.attrs().integer("log", 0) != 0;
  const bool nan_to_zero = call.attrs().integer("nan_to_zero", 0) != 0;
  const double scale = call.attrs().number("scale", 1);
  const double* x = call.data(0);
  Output<N> y(call, 0, shape);
  const std::int64_t lines = extent == 0 ? 0 : y.count() / extent;
  parallel_for(lines, grain_for(20.0 * static_cast<double>(extent)),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<N> row(static_cast<std::size_t>(extent));
                 for (std::int64_t line = begin; line < end; ++line) {
                   const std::int64_t base = line / inner * extent * inner + line % inner;
                   for (std::int64_t i = 0; i < extent; ++i) {
                     N& value = row[static_cast<std::size_t>(i)];
                     value = number<N>(x[base + i * inner]);
                     if (scale != 1) value = number<N>(scale) * value;
                   }
                   softmax_row(row, log_wanted, nan_to_zero);
                   for (std::int64_t i = 0; i < extent; ++i) {
                     y.set(base + i * inner, row[static_cast<std::size_t>(i)]);
                   }
                 }
               });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_softmax{run};

}  // namespace concord::reference
