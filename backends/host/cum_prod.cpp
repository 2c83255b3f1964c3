#include "backends/host/cumulative.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  return cumulate(call, 1, [](std::uint64_t a, std::uint64_t b) { return a * b; });
}

}  // namespace

const Kernel host_cum_prod{only_exact_types, run};

}  // namespace concord::host
