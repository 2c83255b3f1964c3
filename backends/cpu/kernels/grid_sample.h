// Sampling at given positions: grid_sample and roi_align.
#pragma once

#include <cstdint>

namespace concord::cpu {

enum class SampleMode : std::uint8_t { nearest, linear, cubic };
enum class SamplePadding : std::uint8_t { zeros, border, reflection };

constexpr int kMaxSampleAxes = 6;

// y[n, c, p] = x[n, c] at position grid[n, p], the innermost axis first. Positions are computed in
// double; one that is NaN gives NaN. T and G: float or double. No extent may be 0.
template <typename T, typename G>
struct GridSampleArgs {
  SampleMode mode = SampleMode::linear;
  SamplePadding padding = SamplePadding::zeros;
  bool align_corners = false;
  bool pixels = false;  // see ops.def
  std::int64_t batch = 0, channels = 0;
  int axes = 0;
  std::int64_t extents[kMaxSampleAxes] = {};  // from the outermost on
  std::int64_t places = 0;                    // of one batch item
  const T* x = nullptr;                       // [batch, channels, extents…]
  const G* grid = nullptr;                    // [batch, places, axes]
  T* y = nullptr;                             // [batch, channels, places]
};
template <typename T, typename G>
void grid_sample(const GridSampleArgs<T, G>& args);

// Regions of maps, each cut into bins whose samples are averaged, or whose largest weighted corner
// is taken (ONNX RoiAlign).
template <typename T>
struct RoiAlignArgs {
  bool average = true;
  bool half_pixel = true;
  double scale = 1;
  std::int64_t sampling_ratio = 0;
  std::int64_t batch = 0, channels = 0, height = 0, width = 0;
  std::int64_t regions = 0, out_height = 0, out_width = 0;
  const T* x = nullptr;                // [batch, channels, height, width]
  const T* rois = nullptr;             // [regions, 4]: x, y, x, y
  const std::int64_t* item = nullptr;  // [regions]
  T* y = nullptr;                      // [regions, channels, out_height, out_width]
};
enum class RoiFault : std::uint8_t { none, item, size };
// What is wrong with a region (its index in *region), before anything is read or written.
template <typename T>
RoiFault check_regions(const RoiAlignArgs<T>& args, std::int64_t* region);
template <typename T>
void roi_align(const RoiAlignArgs<T>& args);

}  // namespace concord::cpu
