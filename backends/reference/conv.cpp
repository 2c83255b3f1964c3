#include <algorithm>

#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"
#include "backends/reference/product.h"
#include "backends/reference/quantization.h"
#include "backends/reference/rounding.h"
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

// [rows, channels, taps] as [rows, taps, channels], each with `width` neighbouring elements.
void taps_first(const double* from, std::int64_t rows, std::int64_t channels, std::int64_t taps,
                std::int64_t width, double* to) {
  for (std::int64_t r = 0; r < rows; ++r, from += channels * taps * width) {
    for (std::int64_t k = 0; k < taps; ++k) {
      for (std::int64_t c = 0; c < channels; ++c, to += width) {
        std::copy_n(from + (c * taps + k) * width, width, to);
      }
    }
  }
}

// Integers with a scale: sums are exact, then rounded to float as a cast does it, and scaled.
class Bytes {
 public:
  explicit Bytes(const Call& call) {
    if (!call.has(4)) return;
    x_ = real_values(call.input(0));
    weights_ = real_values(call.input(1));
    scales_ = real_values(call.input(4));
    if (!call.has(3)) return;
    const double zero = real_values(call.input(3)).at(0);
    for (double& value : x_) value -= zero;
  }
  bool used() const { return !scales_.empty(); }
  const double* x() const { return x_.data(); }
  const double* weights() const { return weights_.data(); }
  template <typename N>
  N scaled(real_t<N> sum, std::int64_t channel) const {
    const double scale = scales_[scales_.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
    return number<N>(round_to(DataType::f32, static_cast<double>(sum))) * number<N>(scale);
  }

 private:
  std::vector<double> x_, weights_, scales_;
};

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
  const Bytes bytes(call);
  const double* x = bytes.used() ? bytes.x() : call.data(0);
  const double* weights = bytes.used() ? bytes.weights() : call.data(1);
  const double* bias = call.data(2);
  const auto conversions = static_cast<Real>(call.conversions(0, 1));
  std::optional<graph::UnaryFn> activation;
  if (call.attrs().has("activation")) {
    activation = graph::parse_unary(call.attrs().text("activation"));
  }
  const double alpha = call.attrs().number("alpha", 0);
  const double beta = call.attrs().number("beta", 0);
  const double unit = call.unit();
  // A kernel whose data has its channels last goes through all of them at one tap, then at the
  // next: another order of the same terms, with sums on the way of its own.
  const bool two_orders = kUncertain<N> && in_group > 1 && w.kernel_size() > 1;
  std::vector<double> reordered(two_orders ? static_cast<std::size_t>(g.out_channels * taps)
                                           : std::size_t{0});
  if (two_orders) {
    taps_first(weights, g.out_channels, in_group, w.kernel_size(), 1, reordered.data());
  }

  Output<N> y(call, 0, g.output);
  const double cost = 2.0 * static_cast<double>(std::min(positions, kChunk)) *
                      static_cast<double>(out_group * taps);
  parallel_for(
      g.batch * g.group * chunks, grain_for(cost), [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> columns(static_cast<std::size_t>(taps * kChunk));
        std::vector<Real> sums(static_cast<std::size_t>(out_group * kChunk));
        std::vector<Squares<Real>> squares(kUncertain<N> ? sums.size() : 0);
        std::vector<double> other_columns(two_orders ? columns.size() : 0);
        std::vector<Real> other_sums(two_orders ? sums.size() : 0);
        std::vector<Squares<Real>> other_squares(two_orders ? sums.size() : 0);
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
          if (two_orders) {
            taps_first(columns.data(), 1, in_group, w.kernel_size(), count, other_columns.data());
            multiply(out_group, count, taps, {reordered.data() + group * out_group * taps, taps, 1},
                     {other_columns.data(), count, 1}, other_sums.data(), other_squares.data());
            for (std::int64_t i = 0; i < out_group * count; ++i) {
              const auto at = static_cast<std::size_t>(i);
              squares[at].sums = std::max(squares[at].sums, other_squares[at].sums);
            }
          }
          for (std::int64_t m = 0; m < out_group; ++m) {
            const std::int64_t channel = group * out_group + m;
            for (std::int64_t i = 0; i < count; ++i) {
              const auto at = static_cast<std::size_t>(m * count + i);
              N value(sums[at]);
              if constexpr (kUncertain<N>) {
                value.variance =
                    dot_variance<Real>(sums[at], squares[at], static_cast<Real>(taps), conversions);
              }
              if (bytes.used()) value = bytes.scaled<N>(sums[at], channel);
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
