#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"
#include "backends/reference/rows.h"

namespace concord::reference {
namespace {

// The exponent of a power may be an integer tensor.
Tensor as_float(const Tensor& t) {
  if (t.dtype() == DataType::f64) return t;
  Tensor wide(DataType::f64, t.shape());
  for (std::int64_t i = 0; i < t.count(); ++i) {
    wide.as_mutable<double>()[static_cast<std::size_t>(i)] = t.at_double(i);
  }
  return wide;
}

template <typename N>
std::vector<OracleValue> compute(const Call& call, graph::BinaryFn fn) {
  const Tensor right = as_float(call.input(1));
  const double* a = call.data(0);
  const double* b = right.as<double>().data();
  const double unit = call.unit();
  const Shape shape = host::broadcast_shapes(call.shape(0), right.shape());
  const Rows rows(shape, {call.shape(0), right.shape()});
  Output<N> y(call, 0, shape);
  parallel_for(y.count(), grain_for(4), [&](std::int64_t begin, std::int64_t end) {
    rows.visit(
        begin, end,
        [&](std::int64_t first, std::int64_t n, const std::int64_t* at, const std::int64_t* step) {
          for (std::int64_t i = 0; i < n; ++i) {
            y.set(first + i, binary(fn, number<N>(a[at[0] + i * step[0]]),
                                    number<N>(b[at[1] + i * step[1]]), unit));
          }
        });
  });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  const graph::BinaryFn fn = *graph::parse_binary(call.attrs().text("fn"));
  if (!is_float(call.declared_input(0)) || graph::yields_bool(fn)) return through_host(call);
  return with_number(call,
                     [&](auto tag) { return compute<typename decltype(tag)::type>(call, fn); });
}

}  // namespace

const Kernel reference_binary{run};

}  // namespace concord::reference
