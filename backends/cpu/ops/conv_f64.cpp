#include "backends/cpu/ops/conv_f64.h"

#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {

void convolve_f64(const ConvExtents& e, const double* x, const double* w, const double* bias,
                  double* y) {
  const std::int64_t channels = e.in_channels / e.groups;
  const std::int64_t outputs = e.out_channels / e.groups;
  const std::int64_t work = e.taps() * channels;
  parallel_for(e.batch * e.out_channels * e.out_pixels(), 1 + 5000 / (1 + work),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t o[3] = {i / (e.out[1] * e.out[2]) % e.out[0],
                                              i / e.out[2] % e.out[1], i % e.out[2]};
                   const std::int64_t m = i / e.out_pixels() % e.out_channels;
                   const std::int64_t batch = i / (e.out_pixels() * e.out_channels);
                   const double* weights = w + m * channels * e.taps();
                   double sum = bias != nullptr ? bias[m] : 0.0;
                   for (std::int64_t c = 0; c < channels; ++c) {
                     const double* plane =
                         x + (batch * e.in_channels + m / outputs * channels + c) * e.in_pixels();
                     for (std::int64_t t = 0; t < e.taps(); ++t) {
                       const std::int64_t k[3] = {t / (e.kernel[1] * e.kernel[2]),
                                                  t / e.kernel[2] % e.kernel[1], t % e.kernel[2]};
                       std::int64_t at = 0;
                       bool inside = true;
                       for (int axis = 0; axis < 3; ++axis) {
                         const std::int64_t p =
                             o[axis] * e.stride[axis] + k[axis] * e.dilation[axis] - e.pad[axis];
                         inside = inside && p >= 0 && p < e.in[axis];
                         at = at * e.in[axis] + p;
                       }
                       if (inside) sum += plane[at] * weights[c * e.taps() + t];
                     }
                   }
                   y[i] = sum;
                 }
               });
}

}  // namespace concord::cpu
