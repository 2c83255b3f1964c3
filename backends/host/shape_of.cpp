#include <algorithm>

#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Shape& shape = call.input(0).shape();
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto place = [rank](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = place(call.node.attrs.integer("start", 0));
  const std::int64_t end = std::max(start, place(call.node.attrs.integer("end", rank)));
  return {Tensor::from_ints(std::span(shape).subspan(static_cast<std::size_t>(start),
                                                     static_cast<std::size_t>(end - start)))};
}

}  // namespace

const Kernel host_shape_of{nullptr, run};

}  // namespace concord::host
