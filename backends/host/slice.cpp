#include <algorithm>
#include <numeric>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const std::vector<std::int64_t> starts = call.list("starts", 1);
  const std::vector<std::int64_t> ends = call.list("ends", 2);
  std::vector<std::int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (auto given = call.find_list("axes", 3)) axes = *std::move(given);
  std::vector<std::int64_t> steps(starts.size(), 1);
  if (auto given = call.find_list("steps", 4)) steps = *std::move(given);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    fail("slice has " + std::to_string(starts.size()) + " starts, " + std::to_string(ends.size()) +
         " ends, " + std::to_string(axes.size()) + " axes and " + std::to_string(steps.size()) +
         " steps");
  }

  Shape shape = x.shape();
  Shape strides = contiguous_strides(x.shape());
  const Shape dense = strides;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + x.rank() : axes[i];
    if (axis < 0 || axis >= x.rank()) {
      fail("slice axis " + std::to_string(axes[i]) + " does not exist in a tensor of rank " +
           std::to_string(x.rank()));
    }
    const auto d = static_cast<std::size_t>(axis);
    const std::int64_t extent = x.shape()[d];
    const std::int64_t step = steps[i];
    if (step == 0) fail("a step of a slice is 0");
    const auto place = [&](std::int64_t at, std::int64_t low) {
      const std::int64_t high = step > 0 ? extent : extent - 1;
      return std::clamp(at < 0 ? at + extent : at, low, std::max(high, low));
    };
    const std::int64_t start = place(starts[i], 0);
    const std::int64_t end = place(ends[i], step > 0 ? 0 : -1);  // −1: through element 0
    const std::int64_t span = extent == 0 ? 0 : step > 0 ? end - start : start - end;
    // |step| without overflow at the smallest integer.
    const std::uint64_t stride =
        step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
    const std::int64_t count =
        span <= 0 ? 0
                  : static_cast<std::int64_t>((static_cast<std::uint64_t>(span) - 1) / stride + 1);
    shape[d] = count;
    if (count > 0) first += start * dense[d];
    strides[d] = count > 1 ? dense[d] * step : 0;
  }
  Tensor y(x.dtype(), shape);
  if (y.count() == 0) return {std::move(y)};
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    copy_strided(raw_mutable<T>(y).data(), contiguous_strides(shape), raw<T>(x).data() + first,
                 strides, shape);
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_slice{nullptr, run, true};

}  // namespace concord::host
