#include <algorithm>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

// As given, or equal ones, the last smaller if they do not come out even.
std::vector<std::int64_t> part_sizes(const Call& call, std::int64_t extent) {
  if (auto given = call.find_list("sizes", 1)) return *std::move(given);
  const auto parts = static_cast<std::int64_t>(call.node.outputs.size());
  const std::int64_t part = (extent + parts - 1) / parts;
  std::vector<std::int64_t> sizes(call.node.outputs.size(), part);
  sizes.back() = extent - part * (parts - 1);
  return sizes;
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const std::size_t axis = call.axis(x.rank());
  const std::vector<std::int64_t> sizes = part_sizes(call, x.shape()[axis]);
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0) fail("a part of a split has " + std::to_string(size) + " elements");
    if (__builtin_add_overflow(total, size, &total)) break;  // wraps below 0: no axis is that long
  }
  if (total != x.shape()[axis] || sizes.size() != call.node.outputs.size()) {
    fail("parts " + to_string(std::span<const std::int64_t>(sizes)) + " do not split an axis of " +
         std::to_string(x.shape()[axis]) + " elements into " +
         std::to_string(call.node.outputs.size()));
  }
  const std::int64_t outer = extent_product(x.shape(), 0, axis);
  const std::int64_t inner = extent_product(x.shape(), axis + 1, x.shape().size());
  const std::int64_t row = x.shape()[axis] * inner;
  std::vector<Tensor> parts;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    Shape shape = x.shape();
    shape[axis] = size;
    Tensor part(x.dtype(), shape);
    with_raw(x.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto from = raw<T>(x);
      const auto to = raw_mutable<T>(part);
      for (std::int64_t o = 0; o < outer; ++o) {
        std::copy_n(from.begin() + o * row + at, size * inner, to.begin() + o * size * inner);
      }
    });
    at += size * inner;
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

const Kernel host_split{nullptr, run, true};

}  // namespace concord::host
