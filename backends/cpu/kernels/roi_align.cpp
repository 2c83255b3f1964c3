#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/kernels/grid_sample.h"
#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {
namespace {

// Samples of one bin along one axis are at most this many.
constexpr double kMostSamples = 65536;

struct Side {
  double begin, bin;
  double samples;  // per bin
};

template <typename T>
Side side_of(const RoiAlignArgs<T>& args, T from, T to, std::int64_t bins) {
  const double offset = args.half_pixel ? 0.5 : 0;
  const double begin = static_cast<double>(from) * args.scale - offset;
  double length = static_cast<double>(to) * args.scale - offset - begin;
  // Without half pixels, regions that make no sense become one element.
  if (!args.half_pixel && !(length >= 1)) length = 1;
  const double bin = length / static_cast<double>(bins);
  const double samples = args.sampling_ratio > 0 ? static_cast<double>(args.sampling_ratio)
                                                 : std::max(0.0, std::ceil(bin));
  return {begin, bin, samples};
}

// Two neighbours along an axis; outside of the map none.
template <typename T>
struct Pair {
  bool inside = false;
  std::int64_t low = 0, high = 0;
  T low_weight = 0, high_weight = 0;
};

template <typename T>
void find_pairs(const Side& side, std::int64_t bins, std::int64_t extent,
                std::vector<Pair<T>>& pairs) {
  pairs.clear();
  const auto samples = static_cast<std::int64_t>(side.samples);
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    for (std::int64_t i = 0; i < samples; ++i) {
      double x = side.begin + static_cast<double>(bin) * side.bin +
                 (static_cast<double>(i) + 0.5) * side.bin / side.samples;
      Pair<T>& pair = pairs.emplace_back();
      if (extent == 0 || !(x >= -1 && x <= static_cast<double>(extent))) continue;
      pair.inside = true;
      x = std::clamp(x, 0.0, static_cast<double>(extent - 1));
      pair.low = static_cast<std::int64_t>(x);
      pair.high = std::min(pair.low + 1, extent - 1);
      pair.high_weight = static_cast<T>(x - static_cast<double>(pair.low));
      pair.low_weight = static_cast<T>(1 - (x - static_cast<double>(pair.low)));
    }
  }
}

// NaN if either is.
template <typename T>
T larger(T a, T b) {
  return a != a || a > b ? a : b;
}

template <typename T>
T bin_value(const RoiAlignArgs<T>& args, const T* x, const Pair<T>* rows, std::size_t down,
            const Pair<T>* columns, std::size_t across) {
  T sum = 0;
  T largest = 0;
  for (std::size_t i = 0; i < down * across; ++i) {
    const Pair<T>& r = rows[i / across];
    const Pair<T>& c = columns[i % across];
    T best = 0;
    if (r.inside && c.inside) {
      const T* low = x + r.low * args.width;
      const T* high = x + r.high * args.width;
      const T corners[] = {
          r.low_weight * c.low_weight * low[c.low], r.low_weight * c.high_weight * low[c.high],
          r.high_weight * c.low_weight * high[c.low], r.high_weight * c.high_weight * high[c.high]};
      sum += corners[0] + corners[1] + corners[2] + corners[3];
      best = larger(larger(corners[0], corners[1]), larger(corners[2], corners[3]));
    }
    largest = i == 0 ? best : larger(largest, best);
  }
  if (!args.average) return largest;
  return sum / static_cast<T>(std::max<std::size_t>(1, down * across));
}

}  // namespace

template <typename T>
RoiFault check_regions(const RoiAlignArgs<T>& args, std::int64_t* region) {
  for (std::int64_t r = 0; r < args.regions; ++r) {
    *region = r;
    if (args.item[r] < 0 || args.item[r] >= args.batch) return RoiFault::item;
    const T* corners = args.rois + r * 4;
    for (int axis = 0; axis < 2; ++axis) {
      const std::int64_t bins = axis == 0 ? args.out_width : args.out_height;
      const Side side = side_of(args, corners[axis], corners[axis + 2], bins);
      if (!(side.samples <= kMostSamples)) return RoiFault::size;
    }
  }
  return RoiFault::none;
}

template <typename T>
void roi_align(const RoiAlignArgs<T>& args) {
  const std::int64_t bins = args.out_height * args.out_width;
  const std::int64_t samples = args.sampling_ratio > 0 ? args.sampling_ratio : 2;
  const double nanoseconds = static_cast<double>(bins * samples * samples) * 5;
  parallel_for(
      args.regions * args.channels, static_cast<std::int64_t>(5000 / nanoseconds) + 1,
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<Pair<T>> rows;
        std::vector<Pair<T>> columns;
        std::size_t down = 0;
        std::size_t across = 0;
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t region = task / args.channels;
          const std::int64_t channel = task % args.channels;
          if (task == begin || channel == 0) {
            const T* corners = args.rois + region * 4;
            const Side high = side_of(args, corners[1], corners[3], args.out_height);
            const Side wide = side_of(args, corners[0], corners[2], args.out_width);
            find_pairs(high, args.out_height, args.height, rows);
            find_pairs(wide, args.out_width, args.width, columns);
            down = static_cast<std::size_t>(high.samples);
            across = static_cast<std::size_t>(wide.samples);
          }
          const T* x =
              args.x + (args.item[region] * args.channels + channel) * args.height * args.width;
          T* y = args.y + task * bins;
          for (std::int64_t bin = 0; bin < bins; ++bin) {
            y[bin] = bin_value(
                args, x, rows.data() + static_cast<std::size_t>(bin / args.out_width) * down, down,
                columns.data() + static_cast<std::size_t>(bin % args.out_width) * across, across);
          }
        }
      });
}

template RoiFault check_regions(const RoiAlignArgs<float>&, std::int64_t*);
template RoiFault check_regions(const RoiAlignArgs<double>&, std::int64_t*);
template void roi_align(const RoiAlignArgs<float>&);
template void roi_align(const RoiAlignArgs<double>&);

}  // namespace concord::cpu
