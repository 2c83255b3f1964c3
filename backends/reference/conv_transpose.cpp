#include "backends/reference/kernel.h"
#include "backends/reference/window.h"

namespace concord::reference {
namespace {

// Input position whose kernel position k lands on output position o; −1 if there is none.
std::int64_t source(const Window3::Axis& a, std::int64_t o, std::int64_t k) {
  const std::int64_t reach = o + a.pad_begin - k * a.dilation;
  if (reach < 0 || reach % a.stride != 0) return -1;
  const std::int64_t i = reach / a.stride;
  return i < a.input ? i : -1;
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const graph::ConvGeometry g =
      graph::conv_transpose_geometry(call.node, call.shape(0), call.shape(1));
  const Window3 w(g.window);
  const auto& [d, h, v] = w.axes;
  const std::int64_t in_group = g.in_channels / g.group;
  const std::int64_t out_group = g.out_channels / g.group;
  const std::int64_t positions = w.output_size();
  const std::int64_t taps = w.kernel_size();
  const double* x = call.data(0);
  const double* weights = call.data(1);  // [in_channels, out_group, taps]
  const double* bias = call.data(2);
  const auto conversions = static_cast<real_t<N>>(call.conversions(0, 1));

  // For each output position, which taps reach which inputs: the same for all channels.
  struct Reach {
    std::int64_t tap;
    std::int64_t input;
  };
  std::vector<std::vector<Reach>> reaches(static_cast<std::size_t>(positions));
  for (std::int64_t o = 0; o < positions; ++o) {
    const auto [od, oh, ov] = unravel(o, h.output, v.output);
    for (std::int64_t t = 0; t < taps; ++t) {
      const auto [kd, kh, kv] = unravel(t, h.kernel, v.kernel);
      const std::int64_t id = source(d, od, kd);
      const std::int64_t ih = source(h, oh, kh);
      const std::int64_t iv = source(v, ov, kv);
      if (id < 0 || ih < 0 || iv < 0) continue;
      reaches[static_cast<std::size_t>(o)].push_back({t, (id * h.input + ih) * v.input + iv});
    }
  }
  Output<N> y(call, 0, g.output);
  const double cost = 4.0 * static_cast<double>(positions) * static_cast<double>(in_group * taps);
  parallel_for(
      g.batch * g.out_channels, grain_for(cost), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t n = task / g.out_channels;
          const std::int64_t m = task % g.out_channels;
          const std::int64_t group = m / out_group;
          for (std::int64_t o = 0; o < positions; ++o) {
            Sum<N> sum;
            for (std::int64_t c = group * in_group; c < (group + 1) * in_group; ++c) {
              const double* plane = x + (n * g.in_channels + c) * w.input_size();
              const double* kernel = weights + (c * out_group + m % out_group) * taps;
              for (const Reach& reach : reaches[static_cast<std::size_t>(o)]) {
                sum.add_product(number<N>(plane[reach.input]), number<N>(kernel[reach.tap]));
              }
            }
            N value = sum.result(conversions);
            if (bias != nullptr) value = value + number<N>(bias[m]);
            y.set(task * positions + o, value);
          }
        }
      });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_conv_transpose{run};

}  // namespace concord::reference
