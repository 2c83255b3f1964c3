#include <algorithm>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

// begin… end… for all axes, whatever axes the operand speaks of.
std::vector<std::int64_t> all_pads(const Call& call, std::size_t rank) {
  std::vector<std::int64_t> pads = call.list("pads", 1);
  if (!call.node.attrs.has("pads") && call.has(3)) {
    const std::vector<std::int64_t> axes = call.input(3).ints();
    if (pads.size() != 2 * axes.size()) {
      fail(call.name_of(1) + " holds " + std::to_string(pads.size()) + " pads for " +
           std::to_string(axes.size()) + " axes");
    }
    std::vector<std::int64_t> spread(2 * rank, 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t axis = axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(rank) : axes[i];
      if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) {
        fail("pad axis " + std::to_string(axes[i]) + " does not exist in a tensor of rank " +
             std::to_string(rank));
      }
      spread[static_cast<std::size_t>(axis)] = pads[i];
      spread[static_cast<std::size_t>(axis) + rank] = pads[axes.size() + i];
    }
    return spread;
  }
  if (pads.size() != 2 * rank) {
    fail("there are " + std::to_string(pads.size()) + " pads for a tensor of rank " +
         std::to_string(rank));
  }
  return pads;
}

// For each position along a padded axis the position it takes its element from, −1 for the pad
// value. Negative pads crop first; the other modes then see only what is left.
std::vector<std::int64_t> sources(std::int64_t extent, std::int64_t begin, std::int64_t end,
                                  const std::string& mode) {
  const std::int64_t low = std::max<std::int64_t>(0, -begin);
  const std::int64_t high = extent - std::max<std::int64_t>(0, -end);
  const std::int64_t total = extent + begin + end;
  if (total < 0 || high < low) {
    fail("pads " + std::to_string(begin) + " and " + std::to_string(end) +
         " leave nothing of an axis of " + std::to_string(extent) + " elements");
  }
  const std::int64_t count = high - low;
  if (count == 0 && total > 0 && mode != "constant") {
    fail("an axis of 0 elements cannot be padded in mode " + mode);
  }
  std::vector<std::int64_t> from(static_cast<std::size_t>(total));
  for (std::int64_t i = 0; i < total; ++i) {
    std::int64_t at = i - std::max<std::int64_t>(0, begin);  // within the part that is left
    if (at < 0 || at >= count) {
      if (mode == "constant") {
        from[static_cast<std::size_t>(i)] = -1;
        continue;
      }
      if (mode == "edge") {
        at = std::clamp<std::int64_t>(at, 0, count - 1);
      } else if (mode == "wrap") {
        at = ((at % count) + count) % count;
      } else {  // reflect, as often as it takes; the edge itself is not repeated
        const std::int64_t period = std::max<std::int64_t>(1, 2 * (count - 1));
        at = ((at % period) + period) % period;
        if (at >= count) at = period - at;
      }
    }
    from[static_cast<std::size_t>(i)] = low + at;
  }
  return from;
}

template <typename T>
void fill(std::span<T> y, const Shape& shape, std::span<const T> x, const Shape& x_shape,
          const std::vector<std::vector<std::int64_t>>& from, const T& value) {
  const std::size_t rank = shape.size();
  const Shape strides = contiguous_strides(x_shape);
  if (rank == 0) {
    y[0] = x[0];
    return;
  }
  const std::vector<std::int64_t>& inner = from[rank - 1];
  const std::int64_t rows = extent_product(shape, 0, rank - 1);
  auto out = y.begin();
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t rest = r;
    std::int64_t base = 0;
    bool inside = true;
    for (std::size_t d = rank - 1; d-- > 0;) {
      const std::int64_t at = from[d][static_cast<std::size_t>(rest % shape[d])];
      rest /= shape[d];
      inside = inside && at >= 0;
      base += at * strides[d];
    }
    for (const std::int64_t at : inner) {
      *out++ = inside && at >= 0 ? x[static_cast<std::size_t>(base + at)] : value;
    }
  }
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const std::size_t rank = x.shape().size();
  const std::vector<std::int64_t> pads = all_pads(call, rank);
  const std::string& mode = call.node.attrs.text("mode");
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t extent = 0;
    if (__builtin_add_overflow(pads[d], pads[rank + d], &extent) ||
        __builtin_add_overflow(x.shape()[d], extent, &extent) || extent < 0) {
      fail("pads " + std::to_string(pads[d]) + " and " + std::to_string(pads[rank + d]) +
           " do not fit an axis of " + std::to_string(x.shape()[d]) + " elements");
    }
    shape.push_back(extent);
  }
  Tensor y(x.dtype(), shape);
  if (y.count() == 0) return {std::move(y)};
  std::vector<std::vector<std::int64_t>> from;
  for (std::size_t d = 0; d < rank; ++d) {
    from.push_back(sources(x.shape()[d], pads[d], pads[rank + d], mode));
  }
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value{};
    if (call.has(2)) {
      if (call.input(2).dtype() != x.dtype() || call.input(2).count() != 1) {
        fail(call.name_of(2) + " must be one " + std::string(to_string(x.dtype())));
      }
      value = raw<T>(call.input(2))[0];
    }
    fill<T>(raw_mutable<T>(y), shape, raw<T>(x), x.shape(), from, value);
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_pad{nullptr, run, true};

}  // namespace concord::host
