#include "backends/host/elements.h"
#include "backends/host/kernel.h"
#include "backends/host/scatter.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& updates = call.input(2);
  if (updates.shape() != call.input(1).shape() || updates.dtype() != call.input(0).dtype()) {
    fail(call.name_of(2) + " of shape " +
         to_string(std::span<const std::int64_t>(updates.shape())) +
         " does not fit indices of shape " +
         to_string(std::span<const std::int64_t>(call.input(1).shape())));
  }
  return {scatter(call.input(0), element_targets(call), 1, updates,
                  call.node.attrs.text("reduction", "none"))};
}

}  // namespace

const Kernel host_scatter_elements{why_no_scatter, run, true};

}  // namespace concord::host
