#include <algorithm>
#include <cmath>

#include "backends/reference/kernel.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

// Two neighbouring elements of an axis and their weights; none: outside of the map.
template <typename N>
struct Pair {
  bool inside = false;
  std::int64_t index[2] = {0, 0};
  N weight[2] = {};
};

template <typename N>
Pair<N> neighbours(N x, std::int64_t extent) {
  const auto length = static_cast<real_t<N>>(extent);
  Pair<N> pair;
  if (extent == 0 || !(value_of(x) >= -1 && value_of(x) <= length)) return pair;
  pair.inside = true;
  if (value_of(x) < 0) x = number<N>(0);
  const auto low = static_cast<std::int64_t>(value_of(x));
  if (low >= extent - 1) {
    pair.index[0] = pair.index[1] = extent - 1;
    pair.weight[0] = number<N>(1);
    pair.weight[1] = number<N>(0);
    return pair;
  }
  pair.index[0] = low;
  pair.index[1] = low + 1;
  pair.weight[1] = x - number<N>(static_cast<double>(low));
  pair.weight[0] = number<N>(1) - pair.weight[1];
  return pair;
}

// Samples of every bin along one axis of a region.
template <typename N>
std::vector<Pair<N>> samples(double begin, double end, const Call& call, std::int64_t bins,
                             std::int64_t extent) {
  const bool half_pixel = call.attrs().integer("half_pixel") != 0;
  const N scale = number<N>(call.attrs().number("scale"));
  const N offset = number<N>(half_pixel ? 0.5 : 0);
  const N first = number<N>(begin) * scale - offset;
  N length = number<N>(end) * scale - offset - first;
  if (!half_pixel && !(value_of(length) >= 1)) length = number<N>(1);
  const N bin = length / number<N>(static_cast<double>(bins));
  std::int64_t count = call.attrs().integer("sampling_ratio");
  if (count == 0) {
    const auto wanted = std::ceil(value_of(bin));
    constexpr int most = 65536;
    if (wanted > most) {
      throw Error(ErrorKind::invalid, "a region from " + std::to_string(begin) + " to " +
                                          std::to_string(end) + " is too large to be sampled");
    }
    count = wanted > 0 ? static_cast<std::int64_t>(wanted) : 0;
  }
  std::vector<Pair<N>> result;
  for (std::int64_t b = 0; b < bins; ++b) {
    for (std::int64_t i = 0; i < count; ++i) {
      const N at =
          first + number<N>(static_cast<double>(b)) * bin +
          number<N>(static_cast<double>(i) + 0.5) * bin / number<N>(static_cast<double>(count));
      result.push_back(neighbours<N>(at, extent));
    }
  }
  return result;
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Shape& shape = call.shape(0);
  const std::int64_t regions = call.extent(1, 0);
  if (shape.size() != 4 || call.extent(1, 1) != 4 || call.input(2).count() != regions) {
    throw Error(ErrorKind::invalid, "regions do not fit the tensor and the batch indices");
  }
  const std::int64_t height = call.attrs().integer("height");
  const std::int64_t width = call.attrs().integer("width");
  const bool average = call.attrs().text("mode") == "avg";
  const std::vector<std::int64_t> batch = call.input(2).ints();
  for (const std::int64_t b : batch) {
    if (b < 0 || b >= shape[0]) {
      throw Error(ErrorKind::invalid, "batch index " + std::to_string(b) +
                                          " is outside a batch of " + std::to_string(shape[0]));
    }
  }
  Output<N> y(call, 0, {regions, shape[1], height, width});
  parallel_for(regions, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t region = begin; region < end; ++region) {
      const double* corners = call.data(1) + region * 4;
      const auto rows = samples<N>(corners[1], corners[3], call, height, shape[2]);
      const auto columns = samples<N>(corners[0], corners[2], call, width, shape[3]);
      const std::size_t down = rows.size() / static_cast<std::size_t>(height);
      const std::size_t across = columns.size() / static_cast<std::size_t>(width);
      for (std::int64_t i = 0; i < shape[1] * height * width; ++i) {
        const std::int64_t c = i / (height * width);
        const auto first_row = static_cast<std::size_t>(i / width % height) * down;
        const auto first_column = static_cast<std::size_t>(i % width) * across;
        const double* x = call.data(0) + (batch[static_cast<std::size_t>(region)] * shape[1] + c) *
                                             shape[2] * shape[3];
        Sum<N> sum;
        N largest = number<N>(0);
        for (std::size_t s = 0; s < down * across; ++s) {
          const Pair<N>& row = rows[first_row + s / across];
          const Pair<N>& column = columns[first_column + s % across];
          N best = number<N>(0);
          for (int k = 0; k < 4 && row.inside && column.inside; ++k) {
            const N weight = row.weight[k / 2] * column.weight[k % 2];
            const N value = number<N>(x[row.index[k / 2] * shape[3] + column.index[k % 2]]);
            if (average) {
              sum.add_product(weight, value);
            } else {
              best = k == 0 ? weight * value : larger(best, weight * value);
            }
          }
          largest = s == 0 ? best : larger(largest, best);
        }
        const auto count = static_cast<double>(std::max<std::size_t>(1, down * across));
        y.set(region * shape[1] * height * width + i,
              average ? sum.result() / number<N>(count) : largest);
      }
    }
  });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_roi_align{run};

}  // namespace concord::reference
