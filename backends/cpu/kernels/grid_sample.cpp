#include "backends/cpu/kernels/grid_sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {
namespace {

constexpr std::int64_t kOutside = -1;
constexpr std::int64_t kUndefined = -2;

struct Axis {
  SampleMode mode;
  SamplePadding padding;
  double extent;
  double low, high;       // where reflection turns back
  double factor, offset;  // element = grid · factor + offset
};

// At most four elements of one axis; kOutside or kUndefined for what is no element.
struct Taps {
  int count = 1;
  std::int64_t index[4] = {0, 0, 0, 0};
  double weight[4] = {1, 0, 0, 0};
};

double reflect(const Axis& a, double x) {
  if (x >= a.low && x <= a.high) return x;
  const double range = a.high - a.low;
  if (!(range > 0)) return a.low;
  const double beyond = x < a.low ? a.low - x : x - a.high;
  const double times = std::floor(beyond / range);
  const double rest = beyond - times * range;
  const bool odd = std::fmod(times, 2.0) != 0;
  return (x < a.low) != odd ? a.low + rest : a.high - rest;
}

double into_range(const Axis& a, double x) {
  switch (a.padding) {
    case SamplePadding::border:
      return std::clamp(x, 0.0, a.extent - 1);
    case SamplePadding::reflection:
      return reflect(a, x);
    default:
      return x;
  }
}

std::int64_t element(const Axis& a, double index) {
  if (a.padding == SamplePadding::zeros) {
    return index >= 0 && index < a.extent ? static_cast<std::int64_t>(index) : kOutside;
  }
  return static_cast<std::int64_t>(std::clamp(into_range(a, index), 0.0, a.extent - 1));
}

Taps taps_at(const Axis& a, double g) {
  constexpr double kA = -0.75;  // Keys' cubic convolution
  Taps taps;
  double x = g * a.factor + a.offset;
  if (a.mode == SampleMode::nearest) {
    if (std::isnan(x)) {
      taps.index[0] = kUndefined;
    } else {
      taps.index[0] = element(a, into_range(a, std::nearbyint(x)));
    }
    return taps;
  }
  x = into_range(a, x);
  if (std::isnan(x)) {
    taps.index[0] = kUndefined;
    return taps;
  }
  // Far outside there is nothing: keeps the index within its type.
  if (x < -4 || x > a.extent + 4) {
    taps.index[0] = kOutside;
    return taps;
  }
  const double base = std::floor(x);
  const double t = x - base;
  if (a.mode == SampleMode::linear) {
    taps.count = 2;
    taps.weight[0] = 1 - t;
    taps.weight[1] = t;
  } else {
    taps.count = 4;
    const auto near = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
    const auto far = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
    taps.weight[0] = far(t + 1);
    taps.weight[1] = near(t);
    taps.weight[2] = near(1 - t);
    taps.weight[3] = far(2 - t);
  }
  const int first = taps.count == 4 ? -1 : 0;
  for (int i = 0; i < taps.count; ++i) taps.index[i] = element(a, base + first + i);
  return taps;
}

template <typename T, typename G>
Axis axis_of(const GridSampleArgs<T, G>& args, int d) {
  const auto extent = static_cast<double>(args.extents[d]);
  Axis axis{args.mode, args.padding, extent, 0, extent - 1, 1, 0};
  if (!args.align_corners) {
    axis.low = -0.5;
    axis.high = extent - 0.5;
  }
  if (!args.pixels) {
    axis.factor = args.align_corners ? (extent - 1) / 2 : extent / 2;
    axis.offset = (extent - 1) / 2;
  }
  return axis;
}

// The taps of some positions, all axes joined: element i of tap t at [t · positions + i].
template <typename T>
struct Block {
  std::vector<std::int64_t> index;
  std::vector<T> weight;
};

template <typename T, typename G>
void find_taps(const GridSampleArgs<T, G>& args, const Axis* axes, const G* grid,
               std::int64_t positions, int taps, Block<T>& block) {
  Taps of_axis[kMaxSampleAxes];
  for (std::int64_t i = 0; i < positions; ++i) {
    for (int d = 0; d < args.axes; ++d) {
      of_axis[d] = taps_at(axes[d], static_cast<double>(grid[i * args.axes + args.axes - 1 - d]));
    }
    for (int t = 0; t < taps; ++t) {
      std::int64_t index = 0;
      double weight = 1;
      int rest = t;
      for (int d = 0, wide = taps; d < args.axes; ++d) {
        const Taps& a = of_axis[d];
        wide /= args.mode == SampleMode::nearest ? 1 : args.mode == SampleMode::linear ? 2 : 4;
        const int tap = rest / wide;
        rest %= wide;
        // An axis that lies outside or is undefined has a single tap.
        const std::int64_t at = tap < a.count ? a.index[tap] : kOutside;
        if (at < 0) {
          const bool undefined = at == kUndefined || (a.count == 1 && a.index[0] == kUndefined);
          index = undefined || index == kUndefined ? kUndefined : kOutside;
        } else if (index >= 0) {
          index = index * args.extents[d] + at;
          weight *= a.weight[tap];
        }
      }
      const auto slot = static_cast<std::size_t>(t * positions + i);
      block.index[slot] = index;
      block.weight[slot] = static_cast<T>(weight);
    }
  }
}

template <typename T>
T picked(const T* x, std::int64_t index) {
  if (index >= 0) return x[index];
  return index == kOutside ? T{0} : std::numeric_limits<T>::quiet_NaN();
}

}  // namespace

template <typename T, typename G>
void grid_sample(const GridSampleArgs<T, G>& args) {
  Axis axes[kMaxSampleAxes];
  std::int64_t size = 1;
  int taps = 1;
  for (int d = 0; d < args.axes; ++d) {
    axes[d] = axis_of(args, d);
    size *= args.extents[d];
    taps *= args.mode == SampleMode::nearest ? 1 : args.mode == SampleMode::linear ? 2 : 4;
  }
  // Positions whose taps are found once for all channels: as many as stay in the cache.
  const std::int64_t most = std::max<std::int64_t>(1, 2048 / taps);
  const std::int64_t blocks = (args.places + most - 1) / most;
  const double nanoseconds =
      static_cast<double>(most * taps) * (5.0 + static_cast<double>(args.channels)) * 1.5;
  parallel_for(args.batch * blocks, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 Block<T> block{std::vector<std::int64_t>(static_cast<std::size_t>(most * taps)),
                                std::vector<T>(static_cast<std::size_t>(most * taps))};
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t n = item / blocks;
                   const std::int64_t first = item % blocks * most;
                   const std::int64_t positions = std::min(most, args.places - first);
                   find_taps(args, axes, args.grid + (n * args.places + first) * args.axes,
                             positions, taps, block);
                   for (std::int64_t c = 0; c < args.channels; ++c) {
                     const T* x = args.x + (n * args.channels + c) * size;
                     T* y = args.y + (n * args.channels + c) * args.places + first;
                     const std::int64_t* index = block.index.data();
                     if (args.mode == SampleMode::nearest) {
                       for (std::int64_t i = 0; i < positions; ++i) y[i] = picked(x, index[i]);
                       continue;
                     }
                     const T* weight = block.weight.data();
                     for (std::int64_t i = 0; i < positions; ++i)
                       y[i] = weight[i] * picked(x, index[i]);
                     for (int t = 1; t < taps; ++t) {
                       index += positions;
                       weight += positions;
                       for (std::int64_t i = 0; i < positions; ++i)
                         y[i] += weight[i] * picked(x, index[i]);
                     }
                   }
                 }
               });
}

template void grid_sample(const GridSampleArgs<float, float>&);
template void grid_sample(const GridSampleArgs<float, double>&);
template void grid_sample(const GridSampleArgs<double, float>&);
template void grid_sample(const GridSampleArgs<double, double>&);

}  // namespace concord::cpu
