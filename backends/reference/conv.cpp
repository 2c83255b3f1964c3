#include <algorithm>

#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"
#include "backends/reference/product.h"
#include "backends/reference/window.h"

namespace concord::reference {
namespace {

// Output positions that are done together.
constexpr std::int64_t kChunk = 128;

// columns[t, i] (dense) = the input element that tap t (channel, kernel position) of output
// position first + i sees, 0 in the padding.
void gather_columns(const double* x, std::int64_t channels, const Window3& w, std::int64_t first,
                    std::int64_t count, double* columns) {
  const auto& [d, h, v] = w.axes;
  std::vector<std::array<std::int64_t, 3>> corners;  // where each window begins
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [od, oh, ov] = unravel(first + i, h.output, v.output);
    corners.push_back(
        {od * d.stride - d.pad_begin, oh * h.stride - h.pad_begin, ov * v.stride - v.pad_begin});
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    const double* plane = x + c * w.input_size();
    for (std::int64_t k = 0; k < w.kernel_size(); ++k) {
      const auto [kd, kh, kv] = unravel(k, h.kernel, v.kernel);
      for (const auto& corner : corners) {
        const std::int64_t id = corner[0] + kd * d.dilation;
        const std::int64_t ih = corner[1] + kh * h.dilation;
        const std::int64_t iv = corner[2] + kv * v.dilation;
        const bool inside =
            id >= 0 && id < d.input && ih >= 0 && ih < h.input && iv >= 0 && iv < v.input;
        *columns++ = inside ? plane[(id * h.input + ih) * v.input + iv] : 0;
      }
    }
  }
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  using Real = real_t<N>;
  const graph::ConvGeometry g = graph::conv_geometry(call.node, call.shape(0), call.shape(1));
  const Window3 w(g.window);
  const std::int64_t in_group = g.in_channels / g.group;
  const std::int64_t out_group = g.out_channels / g.group;
  const std::int64_t taps = in_group * w.kernel_size();
  const std::int64_t positions = w.output_size();
  const std::int64_t chunks = (positions + kChunk - 1) / kChunk;
  const double* x = call.data(0);
  const double* weights = call.data(1);
  const double* bias = call.data(2);
  const auto conversions = static_cast<Real>(call.conversions(0, 1));
  std::optional<graph::UnaryFn> activation;
  if (call.attrs().has("activation")) {
    activation = graph::parse_unary(call.attrs().text("activation"));
  }
  const double alpha = call.attrs().number("alpha", 0);
  const double beta = call.attrs().number("beta", 0);
  const double unit = call.unit();

  Output<N> y(call, 0, g.output);
  const double cost = 2.0 * static_cast<double>(std::min(positions, kChunk)) *
                      static_cast<double>(out_group * taps);
  parallel_for(
      g.batch * g.group * chunks, grain_for(cost), [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> columns(static_cast<std::size_t>(taps * kChunk));
        std::vector<Real> sums(static_cast<std::size_t>(out_group * kChunk));
        std::vector<Squares<Real>> squares(kUncertain<N> ? sums.size() : 0);
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t n = task / (g.group * chunks);
          const std::int64_t group = task / chunks % g.group;
          const std::int64_t first = task % chunks * kChunk;
          const std::int64_t count = std::min(kChunk, positions - first);
          gather_columns(x + (n * g.in_channels + group * in_group) * w.input_size(), in_group, w,
                         first, count, columns.data());
          multiply(out_group, count, taps, {weights + group * out_group * taps, taps, 1},
                   {columns.data(), count, 1}, sums.data(),
                   kUncertain<N> ? squares.data() : nullptr);
          for (std::int64_t m = 0; m < out_group; ++m) {
            const std::int64_t channel = group * out_group + m;
            for (std::int64_t i = 0; i < count; ++i) {
              const auto at = static_cast<std::size_t>(m * count + i);
              N value(sums[at]);
              if constexpr (kUncertain<N>) {
                value.variance =
                    dot_variance<Real>(sums[at], squares[at], static_cast<Real>(taps), conversions);
              }
              if (bias != nullptr) value = value + number<N>(bias[channel]);
              if (activation) value = unary(*activation, value, alpha, beta, unit);
              y.set((n * g.out_channels + channel) * positions + first + i, value);
            }
          }
        }
      });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_conv{run};

}  // namespace concord::reference
