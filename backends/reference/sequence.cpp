#include "backends/reference/kernel.h"
#include "backends/reference/rounding.h"

namespace concord::reference {
namespace {

// Items may come from constants and inputs in their own types and from nodes in float64; they are
// joined in float64.
std::vector<OracleValue> run(const Call& call) {
  std::vector<OracleValue> wide(call.inputs.begin(), call.inputs.end());
  for (OracleValue& input : wide) {
    if (input.value.defined() && is_container(input.value.dtype())) {
      input.value = widened_items(input.value);
    }
  }
  std::vector<OracleValue> results =
      through_host({call.graph, call.node, wide, call.bindings, call.numerics, call.options});
  for (OracleValue& result : results) {
    if (!is_container(result.declared)) continue;
    result.value = Tensor::container(result.declared,
                                     {result.value.items().begin(), result.value.items().end()});
  }
  return results;
}

}  // namespace

const Kernel reference_sequence{run};

}  // namespace concord::reference
