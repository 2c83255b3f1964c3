#include "backends/host/kernel.h"
#include "backends/reference/scatter.h"

namespace concord::reference {
namespace {

std::vector<OracleValue> run(const Call& call) {
  if (!scatter_computes(call)) return through_host(call);
  const std::vector<Tensor> inputs = call.tensors();
  const host::SliceTargets slices =
      host::slice_targets({call.graph, call.node, inputs, call.bindings}, 0);
  return run_scatter(call, slices.offsets, slices.length);
}

}  // namespace

const Kernel reference_scatter_nd{run};

}  // namespace concord::reference
