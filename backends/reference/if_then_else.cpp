#include "backends/reference/bodies.h"
#include "backends/reference/kernel.h"
#include "graph/error.h"

namespace concord::reference {
namespace {

std::vector<OracleValue> run(const Call& call) {
  const graph::Graph& body = call.node.bodies.at(is_true(call, 0) ? 0 : 1);
  return run_body(call, body, call.inputs.subspan(1));
}

}  // namespace

const Kernel reference_if_then_else{run};

}  // namespace concord::reference
