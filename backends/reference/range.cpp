#include "backends/reference/kernel.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const std::int64_t count = through_host(call).at(0).value.count();
  const N start = number<N>(call.data(0)[0]);
  const N delta = number<N>(call.data(2)[0]);
  Output<N> y(call, 0, {count});
  for (std::int64_t i = 0; i < count; ++i) {
    y.set(i, start + number<N>(static_cast<double>(i)) * delta);
  }
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  if (!is_float(call.declared_input(0))) return through_host(call);
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_range{run};

}  // namespace concord::reference
