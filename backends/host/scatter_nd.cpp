#include "backends/host/elements.h"
#include "backends/host/kernel.h"
#include "backends/host/scatter.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const Tensor& updates = call.input(2);
  const SliceTargets slices = slice_targets(call, 0);
  const std::int64_t wanted = static_cast<std::int64_t>(slices.offsets.size()) * slices.length;
  if (updates.count() != wanted || updates.dtype() != x.dtype()) {
    fail(call.name_of(2) + " holds " + std::to_string(updates.count()) +
         " elements, its indices want " + std::to_string(wanted));
  }
  return {scatter(x, slices.offsets, slices.length, updates,
                  call.node.attrs.text("reduction", "none"))};
}

}  // namespace

const Kernel host_scatter_nd{why_no_scatter, run, true};

}  // namespace concord::host
