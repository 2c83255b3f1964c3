#include "backends/host/elements.h"
#include "backends/host/kernel.h"
#include "backends/host/reduce.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const auto axes = reduce_axes(call);
  if (!axes) return {x};
  return {reduce_integers(x, reduce_function(call.node.attrs.text("fn")), *axes,
                          call.node.attrs.integer("keepdims") != 0)};
}

}  // namespace

std::optional<std::vector<std::int64_t>> reduce_axes(const Call& call) {
  std::vector<std::int64_t> axes;
  if (call.has(1)) axes = call.input(1).ints();
  if (!axes.empty()) return axes;
  if (call.node.attrs.integer("noop_empty", 0) != 0) return std::nullopt;
  for (std::int64_t d = 0; d < call.input(0).rank(); ++d) axes.push_back(d);
  return axes;
}

const Kernel host_reduce_dynamic{only_exact_types, run};

}  // namespace concord::host
