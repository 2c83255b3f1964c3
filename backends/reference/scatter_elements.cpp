#include "backends/host/kernel.h"
#include "backends/reference/scatter.h"

namespace concord::reference {
namespace {

std::vector<OracleValue> run(const Call& call) {
  if (!scatter_computes(call)) return through_host(call);
  const std::vector<Tensor> inputs = call.tensors();
  return run_scatter(call, host::element_targets({call.graph, call.node, inputs, call.bindings}),
                     1);
}

}  // namespace

const Kernel reference_scatter_elements{run};

}  // namespace concord::reference
