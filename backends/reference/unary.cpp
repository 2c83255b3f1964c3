#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call, graph::UnaryFn fn) {
  const double alpha = call.attrs().number("alpha", 0);
  const double beta = call.attrs().number("beta", 0);
  const double unit = call.unit();
  const double* x = call.data(0);
  Output<N> y(call, 0, call.shape(0));
  parallel_for(y.count(), grain_for(20), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      y.set(i, unary(fn, number<N>(x[i]), alpha, beta, unit));
    }
  });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  const graph::UnaryFn fn = *graph::parse_unary(call.attrs().text("fn"));
  const bool floats = is_float(call.declared_input(0));
  if (!floats || fn == graph::UnaryFn::identity || graph::yields_bool(fn)) {
    return through_host(call);
  }
  return with_number(call,
                     [&](auto tag) { return compute<typename decltype(tag)::type>(call, fn); });
}

}  // namespace

const Kernel reference_unary{run};

}  // namespace concord::reference
