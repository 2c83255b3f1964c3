#include "backends/reference/reduce.h"

namespace concord::reference {
namespace {

std::vector<OracleValue> run(const Call& call) {
  std::vector<std::int64_t> axes;
  if (call.has(1)) axes = call.input(1).ints();
  if (axes.empty()) {
    if (call.attrs().integer("noop_empty", 0) != 0) return {exact_output(call, 0, call.input(0))};
    for (std::int64_t d = 0; d < call.input(0).rank(); ++d) axes.push_back(d);
  }
  return run_reduce(call, axes);
}

}  // namespace

const Kernel reference_reduce_dynamic{run};

}  // namespace concord::reference
