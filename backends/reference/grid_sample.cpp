#include <algorithm>
#include <cmath>

#include "backends/reference/kernel.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

enum class Mode { nearest, linear, cubic };
enum class Padding { zeros, border, reflection };

struct Rules {
  Mode mode;
  Padding padding;
  bool align_corners;
  bool pixels;
  double unit;  // roundoff of the step, in which variances are counted
};

// What one axis contributes: elements (−1: outside, worth 0) and their weights.
template <typename N>
struct Taps {
  struct Part {
    std::int64_t index;
    N weight;
  };
  std::vector<Part> parts;
  // nearest: the other element, where the position is so near to the middle between two that
  // rounding decides.
  std::optional<std::int64_t> other;
};

// x thrown back at the borders until it lies between them.
template <typename Real>
Real reflect(Real x, Real low, Real high) {
  const Real range = high - low;
  if (x >= low && x <= high) return x;
  if (!(range > 0)) return low;
  const bool below = x < low;
  const Real beyond = below ? low - x : x - high;
  const Real times = std::floor(beyond / range);
  const Real rest = beyond - times * range;
  const bool odd = std::fmod(times, Real{2}) != 0;
  return below != odd ? low + rest : high - rest;
}

template <typename Real>
Real padded(Real x, std::int64_t extent, const Rules& rules) {
  const auto last = static_cast<Real>(extent - 1);
  if (rules.padding == Padding::border) return std::clamp(x, Real{0}, last);
  if (rules.padding == Padding::zeros) return x;
  const Real edge = rules.align_corners ? Real{0} : Real{0.5};
  return reflect(x, -edge, last + edge);
}

// The element that an index stands for; −1: none. `index` is a whole number.
template <typename Real>
std::int64_t element(Real index, std::int64_t extent, const Rules& rules) {
  const auto last = static_cast<Real>(extent - 1);
  if (rules.padding == Padding::zeros) {
    return index >= 0 && index <= last ? static_cast<std::int64_t>(index) : -1;
  }
  return static_cast<std::int64_t>(std::clamp(padded(index, extent, rules), Real{0}, last));
}

template <typename N>
N position(double g, std::int64_t extent, const Rules& rules) {
  const N x = number<N>(g);
  if (rules.pixels) return x;
  const N one = number<N>(1);
  const N half = number<N>(0.5);
  const auto length = static_cast<double>(extent);
  if (rules.align_corners) return (x + one) * half * number<N>(length - 1);
  return ((x + one) * number<N>(length) - one) * half;
}

// Keys' cubic convolution with a = −¾, of a distance that is not negative.
template <typename N>
N cubic(const N& t) {
  const N a = number<N>(-0.75);
  if (value_of(t) <= 1) {
    return ((a + number<N>(2)) * t - (a + number<N>(3))) * t * t + number<N>(1);
  }
  return ((a * t - number<N>(5) * a) * t + number<N>(8) * a) * t - number<N>(4) * a;
}

template <typename N>
Taps<N> taps(double g, std::int64_t extent, const Rules& rules) {
  using Real = real_t<N>;
  Taps<N> result;
  N x = position<N>(g, extent, rules);
  const Real place = value_of(x);
  if (std::isnan(place)) return {{{0, N(place)}}, {}};
  constexpr Real reach = 4;  // no kernel is wider
  if (rules.padding == Padding::zeros &&
      (place < -reach || place > static_cast<Real>(extent) + reach)) {
    return {{{-1, number<N>(0)}}, {}};
  }
  if (rules.mode == Mode::nearest) {
    const Real whole = std::nearbyint(place);
    const auto index = element(padded(whole, extent, rules), extent, rules);
    result.parts.push_back({index, number<N>(1)});
    if constexpr (kUncertain<N>) {
      const Real sigma = static_cast<Real>(rules.unit) * std::sqrt(x.variance);
      const Real offset = place - whole;
      if (Real{0.5} - std::abs(offset) <= 6 * sigma) {
        const Real beside = whole + (offset < 0 ? -1 : 1);
        result.other = element(padded(beside, extent, rules), extent, rules);
      }
    }
    return result;
  }
  // Reflected, it has the same error; an infinite position is reflected nowhere.
  const Real moved = padded(place, extent, rules);
  if (std::isnan(moved)) return {{{0, N(moved)}}, {}};
  if constexpr (kUncertain<N>) {
    x.value = moved;
  } else {
    x = moved;
  }
  const Real base = std::floor(moved);
  const int first = rules.mode == Mode::cubic ? -1 : 0;
  for (int i = first; i <= 1 - first; ++i) {
    const Real index = base + static_cast<Real>(i);
    const N distance = abs(x - N(index));
    const N weight = rules.mode == Mode::cubic ? cubic(distance) : number<N>(1) - distance;
    result.parts.push_back({element(index, extent, rules), weight});
  }
  return result;
}

// All products of one tap per axis, from the outermost axis on.
template <typename N>
void blend(std::span<const Taps<N>> axes, std::span<const std::int64_t> extents, const double* x,
           std::int64_t offset, const N& weight, Sum<N>& sum) {
  if (axes.empty()) {
    sum.add_product(weight, number<N>(x[offset]));
    return;
  }
  for (const auto& part : axes[0].parts) {
    if (part.index < 0) continue;
    blend<N>(axes.subspan(1), extents.subspan(1), x, offset * extents[0] + part.index,
             weight * part.weight, sum);
  }
}

template <typename N>
N nearest(std::span<const Taps<N>> axes, std::span<const std::int64_t> extents, const double* x,
          const Rules& rules) {
  const auto pick = [&](std::size_t replaced) -> double {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const std::int64_t index = d == replaced ? *axes[d].other : axes[d].parts[0].index;
      if (index < 0) return 0;
      offset = offset * extents[d] + index;
    }
    return x[offset];
  };
  const double value = pick(axes.size());
  N result = number<N>(value);
  if constexpr (kUncertain<N>) {
    for (std::size_t d = 0; d < axes.size(); ++d) {
      if (!axes[d].other) continue;
      // Rounding may take either: 6 σ reach from the one to the other.
      const auto jump = static_cast<real_t<N>>((pick(d) - value) / 6 / rules.unit);
      if (std::isfinite(jump)) result.variance += jump * jump;
    }
  }
  return result;
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Shape& shape = call.shape(0);
  const Shape& grid = call.shape(1);
  const std::size_t r = shape.size() - 2;
  if (shape.size() < 3 || grid.size() != shape.size() || grid[0] != shape[0] ||
      grid.back() != static_cast<std::int64_t>(r)) {
    throw Error(ErrorKind::invalid, "a grid of shape " +
                                        to_string(std::span<const std::int64_t>(grid)) +
                                        " does not fit a tensor of shape " +
                                        to_string(std::span<const std::int64_t>(shape)));
  }
  const std::string& mode = call.attrs().text("mode");
  const std::string& padding = call.attrs().text("padding");
  const Rules rules{mode == "nearest"  ? Mode::nearest
                    : mode == "linear" ? Mode::linear
                                       : Mode::cubic,
                    padding == "zeros"    ? Padding::zeros
                    : padding == "border" ? Padding::border
                                          : Padding::reflection,
                    call.attrs().integer("align_corners") != 0, call.attrs().integer("pixels") != 0,
                    call.unit()};
  Shape out{shape[0], shape[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  Output<N> y(call, 0, out);
  const std::span<const std::int64_t> extents(shape.data() + 2, r);
  const std::int64_t size = element_count(extents);
  const std::int64_t places = host::extent_product(out, 2, out.size());
  if (size == 0 && y.count() > 0) {
    throw Error(ErrorKind::invalid, "there is nothing to sample in a tensor of shape " +
                                        to_string(std::span<const std::int64_t>(shape)));
  }
  parallel_for(shape[0] * places, grain_for(100.0 * static_cast<double>(shape[1])),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<Taps<N>> axes(r);
                 for (std::int64_t task = begin; task < end; ++task) {
                   const double* g = call.data(1) + task * static_cast<std::int64_t>(r);
                   for (std::size_t d = 0; d < r; ++d) {
                     axes[d] = taps<N>(g[r - 1 - d], extents[d], rules);
                   }
                   const bool undefined =
                       std::any_of(axes.begin(), axes.end(), [](const Taps<N>& axis) {
                         return std::isnan(value_of(axis.parts[0].weight));
                       });
                   for (std::int64_t c = 0; c < shape[1]; ++c) {
                     const std::int64_t plane = task / places * shape[1] + c;
                     const double* x = call.data(0) + plane * size;
                     const std::int64_t to = plane * places + task % places;
                     if (undefined) {
                       y.set(to, number<N>(std::numeric_limits<double>::quiet_NaN()));
                       continue;
                     }
                     if (rules.mode == Mode::nearest) {
                       y.set(to, nearest<N>(axes, extents, x, rules));
                       continue;
                     }
                     Sum<N> sum;
                     blend<N>(axes, extents, x, 0, number<N>(1), sum);
                     y.set(to, sum.result());
                   }
                 }
               });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_grid_sample{run};

}  // namespace concord::reference
