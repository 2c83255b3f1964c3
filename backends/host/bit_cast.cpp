#include <cstring>

#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const DataType to = call.node.attrs.dtype("to");
  if (bits(x.dtype()) != bits(to) || bits(to) == 0) {
    fail(call.name_of(0) + " of " + std::string(to_string(x.dtype())) + " has no bits of " +
         std::string(to_string(to)));
  }
  Tensor y(to, x.shape());
  if (y.bytes() > 0) std::memcpy(y.mutable_data(), x.data(), static_cast<std::size_t>(y.bytes()));
  return {std::move(y)};
}

}  // namespace

const Kernel host_bit_cast{nullptr, run};

}  // namespace concord::host
