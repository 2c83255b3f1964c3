#include "backends/reference/norm.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Shape& shape = call.shape(0);
  const std::int64_t channels = call.extent(0, 1);
  const std::int64_t given = call.attrs().integer("groups");
  const std::int64_t groups = given == 0 ? channels : given;
  const std::int64_t per_group = groups == 0 ? 0 : channels / groups;
  const std::int64_t inner = host::extent_product(shape, 2, shape.size());
  const std::int64_t width = per_group * inner;
  const double epsilon = call.attrs().number("epsilon");
  const double* x = call.data(0);
  const double* scale = call.data(1);
  const double* bias = call.data(2);
  Output<N> y(call, 0, shape);
  const std::int64_t count = width == 0 ? 0 : y.count() / width;
  parallel_for(count, grain_for(10.0 * static_cast<double>(width)),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<N> row(static_cast<std::size_t>(width));
                 for (std::int64_t g = begin; g < end; ++g) {
                   for (std::int64_t i = 0; i < width; ++i) {
                     row[static_cast<std::size_t>(i)] = number<N>(x[g * width + i]);
                   }
                   normalise(row, epsilon, true);
                   for (std::int64_t i = 0; i < width; ++i) {
                     const std::int64_t channel = g % groups * per_group + i / inner;
                     N value = row[static_cast<std::size_t>(i)];
                     if (scale != nullptr) value = value * number<N>(scale[channel]);
                     if (bias != nullptr) value = value + number<N>(bias[channel]);
                     y.set(g * width + i, value);
                   }
                 }
               });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_group_norm{run};

}  // namespace concord::reference
